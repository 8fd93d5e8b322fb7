perennial clippy --check
cargo clippy --all-targets
