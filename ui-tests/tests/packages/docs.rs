//! RW-41: documentation stands at the function that it is on, once, and nothing else needs any.

use crate::project::{Project, target};

const LIB: &str = r#"//! Documented.
#![deny(
    missing_docs,
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links,
    rustdoc::missing_crate_level_docs
)]

use perennial::prelude::*;

/// Adds. See [`E`] and [`total`].
#[activity(pure)]
#[deprecated(note = "use add2")]
pub async fn add(/* no documentation here */ _acx: &ActivityCx, a: u32, b: u32) -> Result<u32, E> {
    Ok(a + b)
}

/** Totals, with [`add2`].

# Errors

See [`Error`]. */
#[workflow]
pub async fn total(cx: &Cx, list: Vec<u32>) -> Result<u32, Error> {
    let mut total = 0;
    for n in list {
        total = add2(cx, total, n).await?;
    }
    Ok(total)
}

#[doc = "Adds, "]
#[doc = concat!("as [`", "add", "`] did.")]
#[activity(pure)]
pub async fn add2(_acx: &ActivityCx, a: u32, b: u32) -> Result<u32, E> {
    Ok(a + b)
}

/// Helps [`total`].
#[durable]
pub async fn helps(cx: &Cx) -> Result<u32, Error> {
    total_of_two(cx).await
}

#[durable]
async fn total_of_two(cx: &Cx) -> Result<u32, Error> {
    Ok(add2(cx, 1, 2).await?)
}

/// The error of [`add`].
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct E;

impl std::fmt::Display for E {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no")
    }
}

impl std::error::Error for E {}
"#;

#[test]
fn rw41_documentation_stands_once_where_it_was_written() {
    let mut project = Project::new("docs");
    project.package(
        "documented",
        "2024",
        &[("src/lib.rs".to_owned(), LIB.to_owned())],
    );
    let output = project.cargo(&["doc", "--no-deps"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !said.contains("warning"),
        "{said}"
    );

    let folder = target().join("doc/documented");
    let pages = std::fs::read_dir(&folder).unwrap();
    let mut pages: Vec<_> = pages
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|page| page.ends_with(".html") && page != "all.html")
        .collect();
    pages.sort();
    // The types of the same names are for the compiler.
    let expected = [
        "fn.add.html",
        "fn.add2.html",
        "fn.helps.html",
        "fn.total.html",
        "index.html",
        "struct.E.html",
    ];
    assert_eq!(pages, expected);
    for (page, text) in [
        ("fn.add.html", "<p>Adds. See "),
        ("fn.add.html", "Deprecated: use add2"),
        ("fn.add.html", "href=\"struct.E.html\""),
        ("fn.add2.html", "<p>Adds,"),
        ("fn.helps.html", "<p>Helps "),
        ("fn.total.html", "<p>Totals, with "),
        ("fn.total.html", "<h2 id=\"errors\">"),
    ] {
        let html = std::fs::read_to_string(folder.join(page)).unwrap();
        assert_eq!(html.matches(text).count(), 1, "{text} in {page}:\n{html}");
    }
}
