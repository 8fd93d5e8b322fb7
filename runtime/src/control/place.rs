//! Where the socket is.

use std::path::{Path, PathBuf};

/// The name of the socket in the folder of the store.
pub const SOCKET: &str = "control.socket";
/// The name of the folder in which a socket is made, before it has its name. What is in there has no longer a path
/// than the socket will have.
#[cfg(unix)]
pub(super) const MAKING: &str = "control.new";

/// The path of the socket of the program that has the store in `folder` open.
#[must_use]
pub fn socket_path(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

/// How many bytes the path of a socket may have, if this one has more.
#[cfg(unix)]
pub(super) fn limit_exceeded_by(path: &Path) -> Option<usize> {
    use std::os::unix::net::SocketAddr;

    let fits = |length: usize| SocketAddr::from_pathname("s".repeat(length)).is_ok();
    let length = path.as_os_str().len();
    if fits(length) {
        return None;
    }
    (1..length).rev().find(|length| fits(*length))
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_path_is_held_against_what_the_system_takes() {
        let folder = |length: usize| PathBuf::from("f".repeat(length - SOCKET.len() - 1));
        let limit = limit_exceeded_by(&socket_path(&folder(1_000))).unwrap();
        assert!((90..1_000).contains(&limit), "{limit}");
        assert_eq!(limit_exceeded_by(&socket_path(&folder(limit))), None);
        let longer = socket_path(&folder(limit + 1));
        assert_eq!(limit_exceeded_by(&longer), Some(limit));
        assert!(MAKING.len() + "/s".len() <= SOCKET.len());
    }
}
