//! The model, and how it is asked.

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::TokioExecutor;
use perennial::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Line, ModelError, SettingError, wire};

/// Who is asked where nobody says who.
pub const ADDRESS: &str = "https://api.openai.com/v1";
/// How long an answer may take where nobody says how long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How many bytes an answer may have, with all that is around it.
const MOST_BYTES: usize = 256 * 1024;
/// How many characters of what a model says of a problem are kept.
const MOST_SAID: usize = 300;

/// What a model is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// What it is told about itself.
    pub instructions: String,
    /// What was said so far.
    pub lines: Vec<Line>,
}

/// What a model says to that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// How many tokens it has cost; 0 where the model does not say so.
    pub tokens: u64,
}

/// Asks the model.
///
/// A call costs something, so to ask twice is not free. `pure` would say that it is; that it is never asked twice is
/// what `once` will say, which does not exist yet. So it is `idempotent`: an attempt that was interrupted is followed
/// by another, with the same key, in the header `Idempotency-Key`. Where that key is known, as in a gateway or by
/// the stand-in, both are one call. Where it is not, each kill in the middle of a step may cost one call more, and that
/// is all: what the session has said stands in the history, and comes from one of them.
#[activity(idempotent, retry(attempts = 5, initial = "500ms", cap = "30s"))]
pub async fn answer(acx: &ActivityCx, prompt: Prompt) -> Result<Answer, Failure<ModelError>> {
    let model = acx.state::<Model>();
    let asked = model.ask(&prompt, &acx.idempotency_key()).await;
    asked.map_err(|error| {
        if error.passes() {
            Failure::transient(error)
        } else {
            Failure::reject(error)
        }
    })
}

/// A model that is asked through HTTP. It is the only one who has the key.
pub struct Model {
    connection: Connection,
    address: Uri,
    name: String,
    key: Option<Key>,
    patience: Duration,
}

/// What opens the account. It is not shown.
struct Key {
    text: String,
    header: HeaderValue,
}

enum Connection {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Secure(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Model {
    /// The model that the environment says. `variable` looks up a variable of it:
    ///
    /// | variable | says | where it is not set |
    /// |---|---|---|
    /// | `OPENAI_BASE_URL` | where the model is, without `/chat/completions` | [`ADDRESS`] |
    /// | `OPENAI_API_KEY` | the key | none is sent |
    /// | `OPENAI_MODEL` | the name of the model | [`SettingError::NoModel`] |
    /// | `OPENAI_TIMEOUT` | how long an answer may take, such as `90s` | [`PATIENCE`] |
    ///
    /// One that is empty is not set.
    ///
    /// # Errors
    ///
    /// [`SettingError`], without any of their values.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let name = set("OPENAI_MODEL").ok_or(SettingError::NoModel)?;
        let address = set("OPENAI_BASE_URL").unwrap_or_else(|| ADDRESS.to_owned());
        let patience = set("OPENAI_TIMEOUT").map(|time| humantime::parse_duration(&time));
        let patience = patience
            .transpose()
            .map_err(|error| SettingError::Timeout {
                problem: error.to_string(),
            })?;
        Self::new(
            &address,
            name,
            set("OPENAI_API_KEY"),
            patience.unwrap_or(PATIENCE),
        )
    }

    /// A model at an address. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`SettingError`].
    pub fn new(
        address: &str,
        name: String,
        key: Option<String>,
        patience: Duration,
    ) -> Result<Self, SettingError> {
        let base: Uri = address.trim().parse().map_err(|_| bad("it is no URL"))?;
        let scheme = base.scheme_str().unwrap_or_default().to_owned();
        let host = base.host().unwrap_or_default();
        if host.is_empty() || !matches!(scheme.as_str(), "http" | "https") {
            return Err(bad("it has to begin with http:// or https:// and a host"));
        }
        if base
            .authority()
            .is_some_and(|all| all.as_str().contains('@'))
        {
            return Err(bad(
                "it has a name or a password; a key goes into OPENAI_API_KEY",
            ));
        }
        if base.query().is_some() {
            return Err(bad("it has a `?`"));
        }
        let key = key.map(|key| Key::new(key.trim())).transpose()?;
        let is_plain = scheme == "http";
        if key.is_some() && is_plain && !is_here(host) {
            return Err(SettingError::Exposed);
        }
        let path = base.path().trim_end_matches('/');
        let authority = base.authority().map_or("", |all| all.as_str());
        let address = format!("{scheme}://{authority}{path}/chat/completions");
        Ok(Self {
            connection: if is_plain {
                Connection::plain()
            } else {
                Connection::secure()?
            },
            address: address.parse().map_err(|_| bad("it is no URL"))?,
            name,
            key,
            patience,
        })
    }

    /// Asks once. `operation` is the same whenever the same is asked again.
    ///
    /// # Errors
    ///
    /// [`ModelError`].
    pub async fn ask(&self, prompt: &Prompt, operation: &str) -> Result<Answer, ModelError> {
        let asked = tokio::time::timeout(self.patience, self.call(prompt, operation)).await;
        asked.unwrap_or(Err(ModelError::Slow {
            patience: self.patience,
        }))
    }

    async fn call(&self, prompt: &Prompt, operation: &str) -> Result<Answer, ModelError> {
        let body = wire::Request::new(&self.name, prompt);
        let body = serde_json::to_vec(&body).map_err(|error| self.unreadable(&error))?;
        let mut request = Request::post(self.address.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header("idempotency-key", once(operation, &body));
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header.clone());
        }
        let request = request
            .body(Full::new(body.into()))
            .map_err(|error| self.unreadable(&error))?;
        let sent = self.connection.send(request).await;
        let response = sent.map_err(|error| self.not_sent(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MOST_BYTES)
            .collect()
            .await;
        let body = match body {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(ModelError::TooLong { limit: MOST_BYTES });
            }
            Err(error) => {
                let problem = self.shown(&error.to_string());
                return Err(ModelError::Broken { problem });
            }
        };
        if status == StatusCode::OK {
            self.read(&body)
        } else {
            Err(self.refusal(status, &body))
        }
    }

    fn read(&self, body: &[u8]) -> Result<Answer, ModelError> {
        let response: wire::Response =
            serde_json::from_slice(body).map_err(|error| self.unreadable(&error))?;
        let first = response.choices.into_iter().next();
        match first.and_then(|choice| choice.message.content) {
            Some(text) => Ok(Answer {
                text: self.without_key(text),
                tokens: response.usage.map_or(0, |usage| usage.total_tokens),
            }),
            None => Err(ModelError::Unreadable {
                problem: "it has no text".to_owned(),
            }),
        }
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> ModelError {
        let problem = serde_json::from_slice(body).map(|problem: wire::Problem| problem.error);
        let problem = problem.unwrap_or_else(|_| wire::ProblemText {
            message: String::from_utf8_lossy(body).into_owned(),
            code: None,
        });
        let (said, status) = (self.shown(&problem.message), status.as_u16());
        match status {
            401 | 403 => ModelError::Key { status },
            // To wait does not help.
            429 if problem.code.as_deref() == Some("insufficient_quota") => {
                ModelError::Refused { status, said }
            }
            429 => ModelError::Busy { said },
            408 | 500.. => ModelError::Down { status, said },
            _ => ModelError::Refused { status, said },
        }
    }

    fn not_sent(&self, error: &ClientError) -> ModelError {
        let problem = self.shown(&last_cause(error));
        if error.is_connect() {
            let address = self.address.to_string();
            ModelError::Unreachable { address, problem }
        } else {
            ModelError::Broken { problem }
        }
    }

    fn unreadable(&self, error: &dyn fmt::Display) -> ModelError {
        let problem = self.shown(&error.to_string());
        ModelError::Unreadable { problem }
    }

    /// What somebody else has written, as it may be shown and recorded.
    fn shown(&self, text: &str) -> String {
        let text = self.without_key(text.to_owned());
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = line
            .chars()
            .filter(|c| !c.is_control())
            .take(MOST_SAID + 1)
            .collect();
        if shown.chars().count() > MOST_SAID {
            shown.pop();
            shown.push('…');
        }
        shown
    }

    /// Whoever is asked gets the key, and might say it.
    fn without_key(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(&key.text) => text.replace(&key.text, "[key]"),
            _ => text,
        }
    }
}

impl Key {
    fn new(text: &str) -> Result<Self, SettingError> {
        // Shorter ones would be found in texts that do not have it.
        if text.len() < 4 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingError::Key);
        }
        let header = HeaderValue::try_from(format!("Bearer {text}"));
        let mut header = header.map_err(|_| SettingError::Key)?;
        header.set_sensitive(true);
        let text = text.to_owned();
        Ok(Self { text, header })
    }
}

impl Connection {
    fn plain() -> Self {
        Self::Plain(careful().build(HttpConnector::new()))
    }

    /// The cryptography is Graviola's: like all of this workspace it needs no C compiler.
    fn secure() -> Result<Self, SettingError> {
        let no_tls = |problem: String| SettingError::NoTls { problem };
        // It would panic there.
        if !graviola::util::is_cpu_supported() {
            return Err(no_tls("its processor is too old".to_owned()));
        }
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(rustls_graviola::default_provider())
            .map_err(|error| no_tls(error.to_string()))?
            .https_only()
            .enable_http1()
            .build();
        Ok(Self::Secure(careful().build(connector)))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        match self {
            Self::Plain(client) => client.request(request).await,
            Self::Secure(client) => client.request(request).await,
        }
    }
}

/// A client that sends a request once. Whether it is sent again is for the activity to say.
fn careful() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .retry_canceled_requests(false)
        .pool_max_idle_per_host(0);
    builder
}

/// The key of a call. Another store may have a run of the same name, so what is asked is in it.
fn once(operation: &str, body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    let digest: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{operation}-{digest}")
}

fn is_here(host: &str) -> bool {
    let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn bad(problem: &str) -> SettingError {
    let problem = problem.to_owned();
    SettingError::Address { problem }
}

fn last_cause(error: &ClientError) -> String {
    let mut last = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        last = error.to_string();
        cause = error.source();
    }
    last
}

/// Without the key.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("address", &self.address)
            .field("name", &self.name)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const KEY: &str = "sk-secret-42";

    fn with(variables: &[(&str, &str)]) -> Result<Model, SettingError> {
        Model::from_variables(|name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        })
    }

    fn at(address: &str) -> Result<Model, SettingError> {
        with(&[
            ("OPENAI_MODEL", "m"),
            ("OPENAI_BASE_URL", address),
            ("OPENAI_API_KEY", KEY),
        ])
    }

    #[test]
    fn the_address_is_made_of_what_the_environment_says() {
        for (base, address) in [
            ("", "https://api.openai.com/v1/chat/completions"),
            ("http://[::1]:80/", "http://[::1]:80/chat/completions"),
            (
                "http://localhost/a/v1/",
                "http://localhost/a/v1/chat/completions",
            ),
            (
                "https://example.org",
                "https://example.org/chat/completions",
            ),
        ] {
            assert_eq!(at(base).unwrap().address, address);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_and_no_value_is_shown() {
        let timeout = with(&[("OPENAI_MODEL", "m"), ("OPENAI_TIMEOUT", "secret")]);
        let key = with(&[("OPENAI_MODEL", "m"), ("OPENAI_API_KEY", "secret\nsecret")]);
        let refused = [
            with(&[("OPENAI_MODEL", " ")]),
            at("secret secret"),
            at("ftp://secret"),
            at("/secret"),
            at("https://secret:secret@example.org/v1"),
            at("https://example.org/v1?key=secret"),
            at("http://secret.org/v1"),
            timeout,
            key,
        ];
        let texts = refused.map(|refused| refused.unwrap_err().to_string());
        let text = texts.join("\n--\n");
        assert!(!text.contains("secret."), "{text}");
        insta::assert_snapshot!("settings", text);
    }

    #[test]
    fn a_quota_that_is_used_up_does_not_pass() {
        let model = at("").unwrap();
        let says = |code: &str| {
            let body = format!(r#"{{"error": {{"message": "no", "code": "{code}"}}}}"#);
            model.refusal(StatusCode::TOO_MANY_REQUESTS, body.as_bytes())
        };
        assert!(says("rate_limit_exceeded").passes());
        assert!(!says("insufficient_quota").passes());
    }

    #[test]
    fn the_key_is_not_shown() {
        let model = at("").unwrap();
        assert!(!format!("{model:?}").contains(KEY), "{model:?}");
        let shown = model.shown(&format!("{KEY}\u{1b}[2J is {}", "x".repeat(400)));
        assert!(shown.starts_with("[key][2J is xxx"), "{shown}");
        assert_eq!(shown.chars().count(), MOST_SAID + 1);
    }

    #[test]
    fn the_same_call_has_the_same_key() {
        assert_eq!(once("default/a~1", b"x"), once("default/a~1", b"x"));
        assert_ne!(once("default/a~1", b"x"), once("default/a~1", b"y"));
        assert_ne!(once("default/a~1", b"x"), once("default/a~2", b"x"));
    }
}
