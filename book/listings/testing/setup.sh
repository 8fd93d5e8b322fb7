cargo add --dev --path ../perennial/sdk --features testing
cargo add --dev --path ../perennial/sdk/sandbox --target 'cfg(all(target_os = "linux", target_env = "gnu"))'
