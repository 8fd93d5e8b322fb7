cargo new trip
cd trip
cargo add --path ../perennial/sdk
cargo add --path ../perennial/runtime
cargo add serde --features derive
cargo add tokio --features macros,rt-multi-thread
