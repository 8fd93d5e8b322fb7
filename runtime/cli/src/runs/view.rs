//! `perennial view`.

use std::io::Write;

use perennial::{Publication, RunKey};
use perennial_runtime::control::{Answer, Follow, Request, Runs, Views};
use perennial_runtime::store::ViewRecord;

use super::follow::{self, Following, awaited, is_declared};
use super::inert::line;
use super::reference::{Of, ask_about};
use super::show::details;
use super::text::{table, time, value};
use super::{json, open, other, remark, said};
use crate::{AnyError, Outcome};

/// Prints what a run shows of itself
///
/// Of a program that has the store open it is asked through its control socket. Where none has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct View {
    #[command(flatten)]
    of: Of,
    /// The name of the view, which `--watch` needs; without it all of them are listed
    name: Option<String>,
    /// Print the view NAME again whenever it has changed, until the run has ended
    #[arg(long)]
    watch: bool,
    /// Print JSON; with `--watch` an object a line
    #[arg(long)]
    json: bool,
}

impl View {
    pub(crate) fn run(
        &self,
        out: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> Result<(String, Outcome), AnyError> {
        let (mut run, store) = (self.of.run()?, &*self.of.store);
        let mut runs = open(store)?;
        let views = views(&mut runs, store, &mut run, self.name.as_deref())?;
        if self.watch && self.name.is_none() {
            let details = details(&mut runs, store, &mut run)?;
            runs.close()?;
            let names = views.views.iter().map(|view| &view.name);
            let known = follow::declared(&details.publishes, Publication::View);
            return Err(follow::unnamed("--watch", "view", &run, names.chain(known)));
        }
        if self.watch
            && let Some(name) = &self.name
        {
            if views.views.is_empty() {
                let details = details(&mut runs, store, &mut run)?;
                if !is_declared(&details, Publication::View, name) {
                    let text = not_shown(&run, name, &details.views).replace("\n\nhelp: ", "; ");
                    remark(errors, &awaited(&text, runs.whereabouts()));
                }
            }
            return self.watch(runs, run, name, out);
        }
        if self.json {
            runs.close()?;
            return json(&views);
        }
        let Some(name) = &self.name else {
            runs.close()?;
            return Ok(said(list(&run, &views)));
        };
        let Some(shown) = views.views.first() else {
            let others = self::views(&mut runs, store, &mut run, None)?;
            runs.close()?;
            return Err(not_shown(&run, name, &others.views).into());
        };
        runs.close()?;
        Ok(said(shows(shown, views.stale)))
    }

    fn watch(
        &self,
        runs: Runs,
        run: RunKey,
        name: &str,
        out: &mut dyn Write,
    ) -> Result<(String, Outcome), AnyError> {
        let wish = Follow::View {
            run: run.clone(),
            name: name.to_owned(),
        };
        let mut following = Following::new(out, self.json);
        let whereabouts = runs.whereabouts();
        let ended = runs.follow(wish, |answer| {
            let Answer::Views(views) = answer else {
                return following.misunderstood(&answer);
            };
            views.views.iter().all(|shown| match self.json {
                true => following.object(&Shown {
                    shown,
                    stale: views.stale,
                }),
                false => following.text(&shows(shown, views.stale)),
            })
        });
        let help = "ask again: it begins with what the view shows then";
        follow::outcome(&self.of.store, &run, following, ended, whereabouts, help)
    }
}

/// One view, and whether it is stale, as data.
#[derive(serde::Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    shown: &'a ViewRecord,
    stale: bool,
}

fn views(
    runs: &mut Runs,
    store: &std::path::Path,
    run: &mut RunKey,
    name: Option<&str>,
) -> Result<Views, AnyError> {
    let answer = ask_about(runs, store, run, |run| Request::View {
        run,
        name: name.map(str::to_owned),
    })?;
    match answer {
        Answer::Views(views) => Ok(views),
        answer => Err(other(&answer)),
    }
}

const STALE: &str =
    "the run is blocked, so this is from before: more has come in that it was not told";

fn shows(shown: &ViewRecord, stale: bool) -> String {
    let mut text = format!("{}  {}\n", time(shown.at), shown.value.as_json());
    if stale {
        text += &format!("{STALE}\n");
    }
    text
}

fn list(run: &RunKey, views: &Views) -> String {
    if views.views.is_empty() {
        return format!("run {run} shows nothing\n");
    }
    let head = ["VIEW", "AS OF", "SHOWS"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(
        views
            .views
            .iter()
            .map(|view| vec![line(&view.name), time(view.at), value(&view.value)]),
    );
    let mut text = table(&rows);
    if views.stale {
        text += &format!("\n{STALE}\n");
    }
    text
}

fn not_shown(run: &RunKey, name: &str, others: &[ViewRecord]) -> String {
    let name = line(name);
    if others.is_empty() {
        return format!("run {run} does not show \"{name}\", nor anything else");
    }
    let names: Vec<_> = others.iter().map(|view| line(&view.name)).collect();
    format!(
        "run {run} does not show \"{name}\"\n\nhelp: it shows {}",
        names.join(", ")
    )
}
