//! Methods of ours are called `spawn` and `submit`, and take what is no future.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[derive(Default)]
struct Form {
    fields: Vec<String>,
}

impl Form {
    fn submit(&mut self, field: String) -> usize {
        self.fields.push(field);
        self.fields.len()
    }

    fn spawn<T>(&self, make: impl FnOnce(&Self) -> T) -> T {
        make(self)
    }
}

#[workflow]
pub async fn own_spawn_and_submit(cx: &Cx, order: Order) -> Result<usize, Error> {
    let mut form = Form::default();
    for line in order.lines {
        form.submit(line.sku);
    }
    let text = form.spawn(|form| form.fields.join(", "));
    mail(cx, text).await?;
    Ok(form.submit(order.id))
}
