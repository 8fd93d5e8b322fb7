//! `perennial stream`.

use std::io::Write;

use perennial::value::Value;
use perennial::{Publication, RunKey};
use perennial_runtime::Item;
use perennial_runtime::control::{Answer, Follow, ItemPage, ReadStream, Request, Runs};
use perennial_runtime::store::StreamRange;

use super::follow::{self, Following, awaited, is_declared};
use super::inert::line;
use super::reference::{Of, ask_about};
use super::show::details;
use super::text::{table, time};
use super::{json, open, other, remark, said};
use crate::{AnyError, Outcome};

/// Prints what a run has given out in a stream, an item a line: its number, when, and what it is
///
/// Of a program that has the store open it is asked through its control socket, and hands each new item on as soon as
/// it is durable. Where none has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct Stream {
    #[command(flatten)]
    of: Of,
    /// The name of the stream, which `--follow` needs; without it all of them are listed
    name: Option<String>,
    /// Only items with greater numbers
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true
    )]
    after: u64,
    /// How many items to print: 1 to 10,000; 100 if nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: Option<u64>,
    /// Print all items of the stream NAME, and each new one, until the run has ended
    #[arg(long, conflicts_with = "limit")]
    follow: bool,
    /// Print JSON; with `--follow` an object a line
    #[arg(long)]
    json: bool,
}

impl Stream {
    pub(crate) fn run(
        &self,
        out: &mut dyn Write,
        errors: &mut dyn Write,
    ) -> Result<(String, Outcome), AnyError> {
        let (mut run, store) = (self.of.run()?, &*self.of.store);
        let mut runs = open(store)?;
        let Some(name) = &self.name else {
            let details = details(&mut runs, store, &mut run)?;
            runs.close()?;
            let streams = details.streams;
            if self.follow {
                let names = streams.iter().map(|stream| &stream.name);
                let known = follow::declared(&details.publishes, Publication::Stream);
                return Err(follow::unnamed(
                    "--follow",
                    "stream",
                    &run,
                    names.chain(known),
                ));
            }
            return match self.json {
                true => json(&streams),
                false => Ok(said(list(&run, &streams))),
            };
        };
        let limit = match self.follow {
            // A look at whether it is there.
            true => 1,
            false => self.limit.unwrap_or_default(),
        };
        let answer = ask_about(&mut runs, store, &mut run, |run| {
            Request::Stream(ReadStream {
                run,
                stream: name.clone(),
                after: self.after,
                limit: usize::try_from(limit).unwrap_or(usize::MAX),
            })
        })?;
        let Answer::Items(page) = answer else {
            return Err(other(&answer));
        };
        if self.follow {
            if page.items.is_empty() {
                let details = details(&mut runs, store, &mut run)?;
                let is_there = details.streams.iter().any(|stream| stream.name == *name);
                if !is_there && !is_declared(&details, Publication::Stream, name) {
                    let text = nothing(&run, name, self.after, &details.streams);
                    remark(errors, &awaited(text.trim_end(), runs.whereabouts()));
                }
            }
            return self.follow(runs, run, name, out);
        }
        if self.json {
            runs.close()?;
            return json(&page);
        }
        let text = if page.items.is_empty() {
            let streams = details(&mut runs, store, &mut run)?.streams;
            nothing(&run, name, self.after, &streams)
        } else {
            text(&page)
        };
        runs.close()?;
        Ok(said(text))
    }

    fn follow(
        &self,
        runs: Runs,
        run: RunKey,
        name: &str,
        out: &mut dyn Write,
    ) -> Result<(String, Outcome), AnyError> {
        let wish = Follow::Stream {
            run: run.clone(),
            stream: name.to_owned(),
            after: self.after,
        };
        let mut following = Following::new(out, self.json);
        let mut last = self.after;
        let whereabouts = runs.whereabouts();
        let ended = runs.follow(wish, |answer| {
            let Answer::Items(page) = answer else {
                return following.misunderstood(&answer);
            };
            page.items.iter().all(|item| {
                last = item.number;
                match self.json {
                    true => following.object(item),
                    false => following.text(&shown(item)),
                }
            })
        });
        let help = format!("go on with what comes next: `--after {last}`");
        follow::outcome(&self.of.store, &run, following, ended, whereabouts, &help)
    }
}

fn shown(item: &Item<Value>) -> String {
    format!(
        "{}  {}  {}\n",
        item.number,
        time(item.at),
        item.value.as_json()
    )
}

fn text(page: &ItemPage) -> String {
    let mut text: String = page.items.iter().map(shown).collect();
    if let Some(last) = page.items.last().filter(|_| page.more) {
        text += &format!("\nthere are more: `--after {}`\n", last.number);
    }
    text
}

fn list(run: &RunKey, streams: &[StreamRange]) -> String {
    if streams.is_empty() {
        return format!("run {run} has given out nothing\n");
    }
    let head = ["STREAM", "FIRST", "LAST"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(streams.iter().map(|stream| {
        vec![
            line(&stream.name),
            stream.first.to_string(),
            stream.last.to_string(),
        ]
    }));
    table(&rows)
}

fn nothing(run: &RunKey, name: &str, after: u64, streams: &[StreamRange]) -> String {
    let name = line(name);
    if let Some(stream) = streams.iter().find(|stream| stream.name == name) {
        let last = stream.last;
        return format!(
            "run {run} has given out nothing in stream \"{name}\" after {after}: the last item is {last}\n"
        );
    }
    let mut text = format!("run {run} has given out nothing in stream \"{name}\"");
    if !streams.is_empty() {
        let names: Vec<_> = streams.iter().map(|stream| line(&stream.name)).collect();
        text += &format!("; it has in {}", names.join(", "));
    }
    text + "\n"
}
