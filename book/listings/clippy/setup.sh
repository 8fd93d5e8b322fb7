perennial clippy
