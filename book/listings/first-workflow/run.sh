cargo run
