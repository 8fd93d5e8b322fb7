//! What a client answers: the calls of stubs that runs wait for.

use std::sync::Arc;

use perennial::value::Value;
use perennial::{Data, InvalidId, OperationId, RunId, RunKey, Stub, StubFn};

use super::{Client, Fulfil, ListOffers, ListWaiting, Request};

impl Client {
    /// Completes an operation that a run has offered: a call of `stub`, known by its reference `<run>~<number>`, which
    /// the workflow has handed on or [`waiting`](Self::waiting) shows. Answered when the run has the value durably;
    /// from then on it is not lost, and no other value is taken in its place (B4). The run is told of it in the order in
    /// which things reach it: what came before may have it go another way, and drop the call, first.
    ///
    /// The same value can be given again, as often as one likes and whatever has become of the run: it is the same
    /// completion (B3, B7).
    ///
    /// ```no_run
    /// # use perennial::prelude::*;
    /// # use perennial_runtime::{Client, FulfilError};
    /// /// A person looks at an order.
    /// #[stub]
    /// async fn review(cx: &Cx, order: String) -> bool;
    ///
    /// # async fn approve(client: &Client) -> Result<(), FulfilError> {
    /// client.fulfil("order-42~7", review, &true).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`FulfilError`](crate::FulfilError).
    #[doc(alias = "fulfill", alias = "resolve", alias = "complete")]
    pub fn fulfil<M, F: StubFn<M>>(
        &self,
        reference: impl TryInto<OperationId, Error: Into<InvalidId>>,
        stub: F,
        value: &<F::S as Stub>::Output,
    ) -> Fulfil {
        let _ = stub;
        let (shared, namespace) = (Arc::clone(&self.shared), self.namespace.clone());
        let reference = reference.try_into().map_err(Into::into);
        Fulfil::typed(shared, namespace, reference, F::S::NAME, value.to_value())
    }

    /// As [`fulfil`](Self::fulfil), of the stub called `name` with a JSON value, for who has no types: a command line,
    /// a web hook, another language. Where the program knows the stub, since a workflow of it calls it or it is
    /// [registered](crate::Builder::stub), a value that is not of its type is refused, and the operation stays open.
    ///
    /// # Errors
    ///
    /// [`FulfilError`](crate::FulfilError).
    pub fn fulfil_json(
        &self,
        reference: impl TryInto<OperationId, Error: Into<InvalidId>>,
        name: &str,
        value: Value,
    ) -> Fulfil {
        let (shared, namespace) = (Arc::clone(&self.shared), self.namespace.clone());
        let reference = reference.try_into().map_err(Into::into);
        Fulfil::json(shared, namespace, reference, name, value)
    }

    /// Completes an operation as [`fulfil`](Self::fulfil) does, and waits for the run's reply (B20): what it says with
    /// the first call of the same stub that it makes when it has heard the request, which waits for the next one in turn.
    /// So a stub is the protocol of a conversation: its result is what is asked, and its input what is replied. A run that
    /// talks with several at once through one stub answers each before it speaks to another, or has a stub for each.
    ///
    /// The reply is durable, and belongs to the operation: the same request made again, after a time limit or by another
    /// process, is not given to the run a second time, and has the same reply.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use perennial::prelude::*;
    /// # use perennial_runtime::{Client, RequestError};
    /// /// The run says something, and hears what somebody says to that.
    /// #[stub]
    /// async fn turn(cx: &Cx, said: String) -> String;
    ///
    /// #[workflow]
    /// async fn echo(cx: &Cx) -> Result<(), Error> {
    ///     let mut heard = turn(cx, "hello".to_owned()).await?;
    ///     while heard != "bye" {
    ///         heard = turn(cx, heard.to_uppercase()).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # async fn talk(client: &Client) -> Result<(), RequestError> {
    /// let request = client.request("talk-1~1", turn, &"how are you".to_owned());
    /// let reply = request.timeout(Duration::from_secs(5)).await?;
    /// assert_eq!(reply.value, "HOW ARE YOU");
    /// client.request(&reply.reference, turn, &"well".to_owned()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RequestError`](crate::RequestError): the run was not given the request; or it was, and has not replied in time, has ended first, or
    /// is blocked.
    pub fn request<M, F: StubFn<M>>(
        &self,
        reference: impl TryInto<OperationId, Error: Into<InvalidId>>,
        stub: F,
        value: &<F::S as Stub>::Output,
    ) -> Request<F::S> {
        Request::new(self.fulfil(reference, stub, value))
    }

    /// Lists the calls of stubs that a run has made, page by page: those that it waits for, and what has become of the
    /// others.
    pub fn offers(&self, run: &RunId) -> ListOffers {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        ListOffers::new(Arc::clone(&self.shared), run)
    }

    /// Lists what the runs of the namespace wait for from outside, page by page, in the order of their ids: each call of
    /// a stub that nobody has completed, with its age and its deadline.
    pub fn waiting(&self) -> ListWaiting {
        ListWaiting::new(Arc::clone(&self.shared), self.namespace.clone())
    }
}
