//! Sees in tests what a workflow asks of the operating system, and answers for it.

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
compile_error!(
    "`perennial-sandbox` works on Linux with glibc, linked dynamically, and nowhere else\n\n\
     help: depend on it where it works. In Cargo.toml:\n\n    \
     [target.'cfg(all(target_os = \"linux\", target_env = \"gnu\"))'.dev-dependencies]\n    \
     perennial-sandbox = \"0.1\"\n\n\
     and in the test:\n\n    \
     #[cfg(all(target_os = \"linux\", target_env = \"gnu\"))]\n    \
     use perennial_sandbox as _;\n\n\
     (with `-C target-feature=+crt-static`: add `not(target_feature = \"crt-static\")` to both)"
);

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
mod glibc;
