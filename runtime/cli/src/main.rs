//! The command `perennial`.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    show_events();
    let (mut out, mut errors) = (io::stdout(), io::stderr());
    perennial_cli::call(std::env::args_os(), &mut out, &mut errors).into()
}

/// Shows what the runtime has to say. What makes sled panic when it opens a store is in the error then, so it
/// is not said twice.
fn show_events() {
    // It fails only where there is one already.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .try_init();
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some("perennial-sled-open") {
            others(panic);
        }
    }));
}
