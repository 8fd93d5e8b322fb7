use super::{Denied, Rule};

const INPUT: &str =
    "make it an input of the workflow, or read it once with `cx.record(\"name\", || ..)`";
const SET: &str = "set it where the program starts";
const NOW: &str = "use `cx.now()` and an offset that is an input of the workflow";

pub(super) const RULE: Rule = Rule {
    code: "D107",
    category: Some("env"),
    title: "environment, arguments, working folder, machine",
    because: "may be different in the process that replays the workflow",
    denied: &[
        Denied::functions(
            "std::env",
            &[
                "args",
                "args_os",
                "current_dir",
                "current_exe",
                "home_dir",
                "temp_dir",
                "var",
                "var_os",
                "vars",
                "vars_os",
            ],
            INPUT,
        ),
        Denied::functions("std::env", &["remove_var", "set_current_dir", "set_var"], SET)
            .because("changes the process for all that runs in it, and again each time the workflow is replayed"),
        Denied::functions("std::path", &["absolute"], INPUT),
        Denied::functions("std::thread", &["available_parallelism"], INPUT),
        Denied::functions("num_cpus", &["get", "get_physical"], INPUT),
        Denied::functions("hostname", &["get"], INPUT),
        Denied::functions("gethostname", &["gethostname"], INPUT),
        Denied::functions(
            "whoami",
            &["devicename", "distro", "hostname", "platform", "realname", "username"],
            INPUT,
        ),
        Denied::functions("dirs", &["cache_dir", "config_dir", "data_dir", "home_dir"], INPUT),
        Denied::functions(
            "dotenvy",
            &["dotenv", "from_filename", "from_path", "var", "vars"],
            INPUT,
        ),
        Denied::functions("sysinfo::System", &["new", "new_all", "host_name"], INPUT),
        Denied::functions(
            "time::UtcOffset",
            &["current_local_offset", "local_offset_at"],
            NOW,
        ),
        Denied::functions("jiff::tz::TimeZone", &["system", "try_system"], NOW),
        Denied::functions("iana_time_zone", &["get_timezone"], NOW),
        Denied::functions("libc", &["getcwd", "getenv", "setenv"], INPUT),
    ],
};
