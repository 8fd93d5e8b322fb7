//! What a run shows of itself (S28). Nothing here is a decision, and nothing that the workflow does depends on it.

use std::collections::BTreeMap;

use super::core::Core;
use crate::MAX_VIEWS;
use crate::prose::shorten;
use crate::value::Value;

/// The longest name of a type that is kept, in bytes.
const MAX_TYPE: usize = 400;

/// What a view shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The name of the view.
    pub view: &'static str,
    /// The Rust type of the value, for people: another program may call it otherwise.
    pub data: String,
    /// The value.
    pub value: Value,
}

/// The views of a run, and those that the unit has changed.
#[derive(Default)]
pub(super) struct Views {
    shown: BTreeMap<&'static str, (&'static str, Value)>,
    changed: Vec<&'static str>,
}

impl Views {
    /// Another unit begins.
    pub(super) fn begin(&mut self) {
        self.changed.clear();
    }

    pub(super) fn memory(&self) -> usize {
        let views = self.shown.values();
        views
            .map(|(_, value)| value.as_json().len() + size_of::<(&str, (&str, Value))>())
            .sum()
    }

    fn show(&self, views: impl Iterator<Item = &'static str>) -> Vec<Shown> {
        let shown = views.filter_map(|view| {
            let (data, value) = self.shown.get(view)?;
            Some(Shown {
                view,
                data: shorten((*data).to_owned(), MAX_TYPE),
                value: value.clone(),
            })
        });
        shown.collect()
    }
}

impl Core {
    pub(crate) fn set_view(&self, view: &'static str, data: &'static str, value: Value) {
        let Some(mut state) = self.deciding() else {
            return;
        };
        let state = &mut *state;
        if state.error.is_none()
            && let Some(inside) = state.inside
        {
            state.misused::<()>(inside);
        }
        if state.step("views set after one event").is_none() {
            return;
        }
        let views = &mut state.views;
        if !views.shown.contains_key(view) && views.shown.len() >= MAX_VIEWS {
            state.run_away::<()>("views of a run", MAX_VIEWS as u64);
            return;
        }
        let now = (data, value);
        if views.shown.get(view) != Some(&now) {
            views.shown.insert(view, now);
            if !views.changed.contains(&view) {
                views.changed.push(view);
            }
        }
    }

    /// The views that the unit has changed, as it leaves them.
    pub(super) fn changed_views(&self) -> Vec<Shown> {
        let views = &self.state.borrow().views;
        views.show(views.changed.iter().copied())
    }

    pub(super) fn all_views(&self) -> Vec<Shown> {
        let views = &self.state.borrow().views;
        views.show(views.shown.keys().copied())
    }
}
