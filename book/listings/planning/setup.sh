cargo add perennial-runtime --features cli
