//! The socket of a program: made, listened at, and taken away.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::conversation::converse;
use super::error::ControlError;
use super::line::{self, Patience};
use super::place::{MAKING, limit_exceeded_by, socket_path};
use super::refused::Refused;
use super::request::Answer;
use super::serve::{Program, Serve};
use crate::engine::Shared;

/// So many may be connected at a time.
pub(super) const CONNECTIONS: usize = 64;
/// So many of them may follow something, so that there is always room for who asks.
pub(super) const FOLLOWERS: usize = 32;
/// How long a connection may be silent, and how long a line may take.
const PATIENCE: Patience = Patience {
    idle: Duration::from_secs(30),
    line: Duration::from_secs(10),
};
/// How long to wait where the system has no room for one more connection.
const PAUSE: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};
/// How long stopping waits for answers that are under way.
const GRACE: Duration = Duration::from_secs(5);

/// A socket that is there, and that nobody listens at yet. Dropped, it goes.
#[derive(Debug)]
pub(crate) struct Bound {
    listener: UnixListener,
    named: Named,
}

/// What stands in the folder.
#[derive(Debug)]
struct Named(PathBuf);

impl Drop for Named {
    fn drop(&mut self) {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("the control socket {} stays: {error}", self.0.display());
            }
            _ => {}
        }
    }
}

impl Bound {
    /// Makes the socket of the store in `folder`, in the place of one that was left behind there. Only who holds
    /// the store may do so, for as long as it does.
    ///
    /// The system makes sockets for as many as the process's mask lets, and that one is everybody's in the process.
    /// So it is made in a folder that nobody else may enter, gets its mode there, and then its name: under that it
    /// is never anything else.
    pub(crate) fn make(folder: Option<&Path>) -> Result<Self, ControlError> {
        let folder = folder.ok_or(ControlError::NoFolder)?;
        let path = socket_path(folder);
        if let Some(limit) = limit_exceeded_by(&path) {
            return Err(ControlError::TooLong { path, limit });
        }
        let making = folder.join(MAKING);
        let failed = |what| {
            let path = path.clone();
            move |error: io::Error| ControlError::Io {
                path,
                what,
                error: error.to_string(),
            }
        };
        remove(&making).map_err(failed("removing one that was half made"))?;
        let made = Self::make_in(&making, &path).map_err(failed("making it"));
        let removed = remove(&making).map_err(failed("removing the folder that it was made in"));
        let listener = made?;
        let named = Named(path);
        removed?;
        Ok(Self { listener, named })
    }

    fn make_in(making: &Path, path: &Path) -> io::Result<UnixListener> {
        DirBuilder::new().mode(0o700).create(making)?;
        let new = making.join("s");
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        fs::rename(&new, path)?;
        Ok(listener)
    }

    /// Answers what is asked there, on threads of its own.
    pub(crate) fn listen(self, shared: &Arc<Shared>) -> Result<Control, ControlError> {
        self.serve(Arc::new(Program::new(Arc::clone(shared))))
    }

    fn serve(self, serve: Arc<dyn Serve>) -> Result<Control, ControlError> {
        let Self { listener, named } = self;
        let failed = |what| {
            let path = named.0.clone();
            move |error: io::Error| ControlError::Io {
                path,
                what,
                error: error.to_string(),
            }
        };
        let (ending, end) = io::pipe().map_err(failed("making a pipe"))?;
        let connections = Arc::new(Connections::default());
        let listening = Listening {
            listener,
            ending,
            connections: Arc::clone(&connections),
            serve,
        };
        let thread = thread::Builder::new()
            .name("perennial-control".into())
            .spawn(move || listening.run())
            .map_err(failed("starting its thread"))?;
        Ok(Control {
            named: Some(named),
            end: Some(end),
            thread: Some(thread),
            connections,
        })
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // It is none, so it is nothing of ours.
        removed => removed,
    }
}

/// A socket that is listened at.
#[derive(Debug)]
pub(crate) struct Control {
    named: Option<Named>,
    /// The thread ends when this is dropped.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    connections: Arc<Connections>,
}

impl Control {
    /// Takes no more connections and no more requests, and takes the socket away. What is under way is answered.
    pub(crate) fn close(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the control socket panicked");
        }
        self.named = None;
        self.connections.shut_down(Shutdown::Read);
    }

    /// Waits until what is under way is answered.
    pub(crate) fn finish(&mut self) {
        self.close();
        if !self.connections.wait(GRACE) {
            // Somebody does not take the answer.
            self.connections.shut_down(Shutdown::Both);
            if !self.connections.wait(GRACE) {
                tracing::error!("a request at the control socket is still being worked on");
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Who is connected.
#[derive(Debug, Default)]
struct Connections {
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    streams: HashMap<u64, UnixStream>,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes one more. `None`: there are as many as there may be.
    fn add(this: &Arc<Self>, stream: &UnixStream) -> io::Result<Option<Connected>> {
        let stream = stream.try_clone()?;
        let mut open = this.lock();
        if open.streams.len() >= CONNECTIONS {
            return Ok(None);
        }
        open.last += 1;
        let number = open.last;
        open.streams.insert(number, stream);
        drop(open);
        let connections = Arc::clone(this);
        Ok(Some(Connected {
            connections,
            number,
        }))
    }

    fn shut_down(&self, how: Shutdown) {
        for stream in self.lock().streams.values() {
            // One that the other side has left is no matter.
            let _ = stream.shutdown(how);
        }
    }

    /// Whether all have ended in that time.
    fn wait(&self, time: Duration) -> bool {
        let open = self.lock();
        let some = |open: &mut Open| !open.streams.is_empty();
        let waited = self.ended.wait_timeout_while(open, time, some);
        let (open, _) = waited.unwrap_or_else(PoisonError::into_inner);
        open.streams.is_empty()
    }
}

/// A connection, until it is dropped.
#[derive(Debug)]
struct Connected {
    connections: Arc<Connections>,
    number: u64,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.lock().streams.remove(&self.number);
        self.connections.ended.notify_all();
    }
}

/// The thread that takes connections.
struct Listening {
    listener: UnixListener,
    /// At its end when the thread is to end.
    ending: PipeReader,
    connections: Arc<Connections>,
    serve: Arc<dyn Serve>,
}

impl Listening {
    fn run(self) {
        loop {
            match self.wait(true) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::error!("nothing is taken at the control socket any more: {error}");
                    return;
                }
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.take(stream),
                Err(error) if is_passing(&error) => {}
                Err(error) => {
                    tracing::warn!("a connection to the control socket was not taken: {error}");
                    if !matches!(self.wait(false), Ok(false)) {
                        return;
                    }
                }
            }
        }
    }

    /// Until there is a connection, or for a moment; whether the thread is to end.
    fn wait(&self, for_connection: bool) -> io::Result<bool> {
        let mut watched = [
            PollFd::new(&self.ending, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        let (watched, time) = if for_connection {
            (&mut watched[..], None)
        } else {
            (&mut watched[..1], Some(&PAUSE))
        };
        match poll(watched, time) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!watched[0].revents().is_empty()),
            Err(error) => Err(error.into()),
        }
    }

    fn take(&self, stream: UnixStream) {
        let taken = self.spawn(&stream);
        let problem = match taken {
            Ok(true) => return,
            Ok(false) => format!(
                "the program has {CONNECTIONS} connections at its control socket, which is as many as it takes\n\n\
                 help: try again when one of them has ended"
            ),
            Err(error) => format!("the program cannot take one more connection: {error}"),
        };
        // A line that is as short as this always has room.
        let mut stream = stream;
        let refused = Answer::Refused(Refused::new(Refused::BUSY, problem));
        let _ = line::write(&mut stream, &refused);
        let _ = stream.flush();
    }

    /// Talks to it on a thread of its own. `false`: there are as many as there may be.
    fn spawn(&self, stream: &UnixStream) -> io::Result<bool> {
        // Some systems hand on what the listener has.
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE.line))?;
        let Some(connected) = Connections::add(&self.connections, stream)? else {
            return Ok(false);
        };
        let stream = stream.try_clone()?;
        let serve = Arc::clone(&self.serve);
        let talk = move || {
            let _connected = connected;
            converse(stream, &*serve, PATIENCE);
        };
        thread::Builder::new()
            .name("perennial-control-connection".into())
            .spawn(talk)?;
        Ok(true)
    }
}

/// Errors that are of one connection, or of none.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::sync::mpsc::{Receiver, channel};

    use perennial::Timestamp;

    use super::super::offers::Fulfil;
    use super::super::request::Tell;
    use super::super::serve::Stopped;
    use super::*;
    use crate::client::Receipt;
    use crate::store::{MemoryStore, Store};

    fn serve() -> Arc<dyn Serve> {
        Arc::new(Stopped(Arc::new(MemoryStore::new())))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// Says hello, and what is asked.
    fn connect(folder: &Path, request: &str) -> BufReader<UnixStream> {
        let mut stream = UnixStream::connect(socket_path(folder)).unwrap();
        match write!(stream, "{{\"perennial\":1}}\n{request}") {
            // The other side may have said why and hung up by now.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        BufReader::new(stream)
    }

    fn line(stream: &mut BufReader<UnixStream>) -> String {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        line
    }

    #[test]
    fn a_socket_takes_the_place_of_one_that_was_left_behind_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(folder.path());
        drop(UnixListener::bind(&path).unwrap());
        fs::create_dir(folder.path().join(MAKING)).unwrap();
        fs::write(folder.path().join(MAKING).join("s"), "half made").unwrap();
        let bound = Bound::make(Some(folder.path())).unwrap();
        assert_eq!(mode(&path), 0o600);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
        drop(bound);
        assert!(!path.exists());
    }

    /// Where it cannot get its name, it is seen as it is before that.
    #[test]
    fn a_socket_is_never_anybody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let making = folder.path().join(MAKING);
        let nowhere = folder.path().join("nowhere").join("socket");
        assert!(Bound::make_in(&making, &nowhere).is_err());
        assert_eq!(mode(&making), 0o700);
        assert_eq!(mode(&making.join("s")), 0o600);
    }

    #[test]
    fn what_is_in_the_way_and_is_not_ours_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket_path(folder.path());
        fs::create_dir(&path).unwrap();
        let error = Bound::make(Some(folder.path())).unwrap_err();
        assert!(matches!(error, ControlError::Io { .. }), "{error}");
        assert!(path.is_dir());
        assert!(!folder.path().join(MAKING).exists());
    }

    #[test]
    fn more_connections_than_there_may_be_are_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let bound = Bound::make(Some(folder.path())).unwrap();
        let control = bound.serve(serve()).unwrap();
        let mut open: Vec<_> = (0..CONNECTIONS)
            .map(|_| connect(folder.path(), ""))
            .collect();
        for stream in &mut open {
            assert!(line(stream).starts_with("{\"perennial\":1"));
        }
        insta::assert_snapshot!(line(&mut connect(folder.path(), "")));
        // Closing ends those that say nothing.
        drop(control);
        for mut stream in open {
            assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
        }
    }

    /// Answers when the test lets it.
    #[derive(Debug)]
    struct Slow {
        store: MemoryStore,
        began: Mutex<std::sync::mpsc::Sender<()>>,
        go: Mutex<Receiver<()>>,
    }

    impl Serve for Slow {
        fn store(&self) -> &dyn Store {
            &self.store
        }

        fn now(&self) -> Timestamp {
            Timestamp::default()
        }

        fn send(&self, _: Tell) -> Result<Receipt, Refused> {
            self.began.lock().unwrap().send(()).unwrap();
            self.go.lock().unwrap().recv().unwrap();
            Err(Refused::new(Refused::RUN_NOT_FOUND, "there is none"))
        }

        fn fulfil(&self, _: Fulfil) -> Result<Receipt, Refused> {
            unreachable!("nobody asks for it")
        }
    }

    #[test]
    fn what_is_under_way_when_it_is_closed_is_answered_and_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        let ((began, beginning), (letting, go)) = (channel(), channel());
        let slow = Slow {
            store: MemoryStore::new(),
            began: Mutex::new(began),
            go: Mutex::new(go),
        };
        let bound = Bound::make(Some(folder.path())).unwrap();
        let mut control = bound.serve(Arc::new(slow)).unwrap();
        let send = r#"{"send":{"run":{"namespace":"default","id":"a"},"channel":"message","name":"a","payload":1}}"#;
        let mut stream = connect(folder.path(), &format!("{send}\n"));
        beginning.recv().unwrap();
        control.close();
        assert!(!socket_path(folder.path()).exists());
        letting.send(()).unwrap();
        assert!(line(&mut stream).starts_with("{\"perennial\":1"));
        assert!(line(&mut stream).contains("there is none"));
        assert_eq!(line(&mut stream), "");
        control.finish();
    }
}
