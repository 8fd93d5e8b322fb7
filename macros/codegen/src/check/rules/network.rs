use super::{Denied, Rule};

const ACTIVITY: &str =
    "move it into an `#[activity]`, which is tried again and whose result is recorded";

const VERBS: &[&str] = &[
    "agent", "connect", "delete", "get", "head", "options", "patch", "post", "put", "request",
    "trace",
];
const BIND: &[&str] = &["bind"];
const CONNECT: &[&str] = &["connect", "connect_addr"];

pub(super) const RULE: Rule = Rule {
    code: "D108",
    category: Some("network"),
    title: "sockets, HTTP and database clients, name look-up",
    because: "talks to the network, and does so again each time the workflow is replayed",
    denied: &[
        Denied::functions(
            "std::net::TcpStream",
            &["connect", "connect_timeout"],
            ACTIVITY,
        ),
        Denied::functions("std::net::TcpListener", BIND, ACTIVITY),
        Denied::functions("std::net::UdpSocket", BIND, ACTIVITY),
        Denied::trait_methods("std::net::ToSocketAddrs", &["to_socket_addrs"], ACTIVITY),
        Denied::functions("std::os::unix::net::UnixStream", CONNECT, ACTIVITY),
        Denied::functions("std::os::unix::net::UnixListener", BIND, ACTIVITY),
        Denied::functions(
            "std::os::unix::net::UnixDatagram",
            &["bind", "unbound"],
            ACTIVITY,
        ),
        Denied::functions("tokio::net", &["lookup_host"], ACTIVITY),
        Denied::functions("tokio::net::TcpStream", CONNECT, ACTIVITY),
        Denied::functions("tokio::net::TcpSocket", &["new_v4", "new_v6"], ACTIVITY),
        Denied::functions("tokio::net::TcpListener", BIND, ACTIVITY),
        Denied::functions("tokio::net::UdpSocket", BIND, ACTIVITY),
        Denied::functions("tokio::net::UnixStream", CONNECT, ACTIVITY),
        Denied::functions("tokio::net::UnixListener", BIND, ACTIVITY),
        Denied::functions("async_std::net::TcpStream", CONNECT, ACTIVITY),
        Denied::functions("async_std::net::TcpListener", BIND, ACTIVITY),
        Denied::functions("async_std::net::UdpSocket", BIND, ACTIVITY),
        Denied::functions("async_net", &["resolve"], ACTIVITY),
        Denied::functions("async_net::TcpStream", CONNECT, ACTIVITY),
        Denied::functions("async_net::TcpListener", BIND, ACTIVITY),
        Denied::functions("async_net::UdpSocket", BIND, ACTIVITY),
        Denied::functions("reqwest", &["get"], ACTIVITY),
        Denied::functions("reqwest::Client", &["new", "builder"], ACTIVITY),
        Denied::functions("reqwest::ClientBuilder", &["new"], ACTIVITY),
        Denied::functions("reqwest::blocking", &["get"], ACTIVITY),
        Denied::functions("reqwest::blocking::Client", &["new", "builder"], ACTIVITY),
        Denied::functions("reqwest::blocking::ClientBuilder", &["new"], ACTIVITY),
        Denied::functions("ureq", VERBS, ACTIVITY),
        Denied::functions(
            "ureq::Agent",
            &[
                "config_builder",
                "new",
                "new_with_config",
                "new_with_defaults",
            ],
            ACTIVITY,
        ),
        Denied::functions("ureq::AgentBuilder", &["new"], ACTIVITY),
        Denied::functions("minreq", VERBS, ACTIVITY),
        Denied::functions("attohttpc", VERBS, ACTIVITY),
        Denied::functions("isahc", VERBS, ACTIVITY),
        Denied::functions("isahc::HttpClient", &["builder", "new"], ACTIVITY),
        Denied::functions("surf", VERBS, ACTIVITY),
        Denied::functions("surf::Client", &["new"], ACTIVITY),
        Denied::functions("hyper::Client", &["builder", "new"], ACTIVITY),
        Denied::functions("hyper::client::conn::http1", &["handshake"], ACTIVITY),
        Denied::functions("hyper::client::conn::http2", &["handshake"], ACTIVITY),
        Denied::functions("hyper_util::client::legacy::Client", &["builder"], ACTIVITY),
        Denied::functions("curl::easy::Easy", &["new"], ACTIVITY),
        Denied::functions("tungstenite", &["client", "connect"], ACTIVITY),
        Denied::functions(
            "tokio_tungstenite",
            &["client_async", "connect_async"],
            ACTIVITY,
        ),
        Denied::functions(
            "tonic::transport::Endpoint",
            &["from_shared", "from_static", "new"],
            ACTIVITY,
        ),
        Denied::functions("redis::Client", &["open"], ACTIVITY),
        Denied::functions("postgres::Client", &["connect"], ACTIVITY),
        Denied::functions("tokio_postgres", &["connect"], ACTIVITY),
        Denied::functions("sqlx::PgPool", &["connect", "connect_lazy"], ACTIVITY),
        Denied::functions("sqlx::MySqlPool", &["connect", "connect_lazy"], ACTIVITY),
        Denied::functions("sqlx::SqlitePool", &["connect", "connect_lazy"], ACTIVITY),
        Denied::functions("sqlx::Pool", &["connect", "connect_lazy"], ACTIVITY),
        Denied::functions(
            "mongodb::Client",
            &["with_options", "with_uri_str"],
            ACTIVITY,
        ),
        Denied::functions("lapin::Connection", &["connect"], ACTIVITY),
        Denied::functions(
            "lettre::SmtpTransport",
            &["relay", "starttls_relay"],
            ACTIVITY,
        ),
        Denied::functions(
            "dns_lookup",
            &["getaddrinfo", "lookup_addr", "lookup_host"],
            ACTIVITY,
        ),
        Denied::functions("libc", &["connect", "getaddrinfo", "socket"], ACTIVITY),
    ],
};
