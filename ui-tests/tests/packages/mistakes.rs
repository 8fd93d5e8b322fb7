//! RW-45: what is wrong in any function is reported as in any function, at the same line and column.

use crate::project::{Finding, Form, Project, lines, source, sources};

#[test]
fn rw45_mistakes_are_reported_where_plain_functions_have_them() {
    let mistakes = sources("mistakes");
    assert!(mistakes.len() >= 10, "{mistakes:?}");
    let mut project = Project::new("mistakes");
    let forms = [Form::Annotated, Form::Plain];
    for form in forms {
        let sdk = source(&format!("{}.rs", form.name()));
        let mut files = vec![("src/lib.rs".to_owned(), String::new())];
        for mistake in &mistakes {
            let text = form.of(&source(&format!("mistakes/{mistake}.rs")));
            // Behind it, so that its lines stay where they are.
            let text = format!("{text}\nfn main() {{}}\n\nmod sdk {{\n{sdk}}}\n");
            files.push((format!("examples/{mistake}.rs"), text));
        }
        project.package(form.name(), "2024", &files);
    }
    let said = project.findings(&["check", "--examples"]);
    for mistake in mistakes {
        let [annotated, plain] = forms.map(|form| {
            let errors = said.iter().filter(|(package, target, finding)| {
                package == form.name() && *target == mistake && finding.is_error
            });
            errors
                .map(|(_, _, finding)| finding)
                .collect::<Vec<&Finding>>()
        });
        assert!(!plain.is_empty(), "{mistake}: there is no mistake in it");
        let places = |errors: &[&Finding]| -> Vec<(u64, u64, String)> {
            let place = |error: &&Finding| (error.line, error.column, error.code.clone());
            errors.iter().map(place).collect()
        };
        assert_eq!(
            places(&annotated),
            places(&plain),
            "{mistake}\n  with the attributes:\n{}\n  without:\n{}",
            lines(&annotated),
            lines(&plain)
        );
        for error in annotated {
            let generated = ["__", "{closure", "async block"]
                .into_iter()
                .find(|generated| error.message.contains(generated));
            assert_eq!(generated, None, "{mistake}: {error}");
        }
    }
}
