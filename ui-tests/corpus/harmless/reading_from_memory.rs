//! `Read`, `Write` and `BufRead` over memory.

use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn reading_from_memory(cx: &Cx, order: Order) -> Result<usize, Error> {
    let mut bytes = Cursor::new(Vec::new());
    for line in &order.lines {
        writeln!(bytes, "{}", line.sku)?;
    }
    bytes.seek(SeekFrom::Start(0))?;
    let mut first = [0; 3];
    bytes.read_exact(&mut first)?;
    for line in BufReader::new(bytes).lines().take(2) {
        mail(cx, line?).await?;
    }
    let mut rest = String::new();
    (&b"rest"[..]).read_to_string(&mut rest)?;
    std::io::sink().write_all(rest.as_bytes())?;
    Ok(rest.len())
}
