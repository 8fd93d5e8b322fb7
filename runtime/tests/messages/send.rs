//! What becomes of a send, whatever its run is doing (M1 to M12, M52).

use perennial::prelude::*;
use perennial_runtime::store::{MAX_INBOX, Status};
use perennial_runtime::{MessageState, SendError};

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn m04_a_message_wakes_the_run_that_is_parked_for_it() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(one, "m04", ()).await.unwrap();
        let receipt = client.send(run.id(), A, &7).await.unwrap();
        assert_eq!((receipt.number, receipt.duplicate), (1, false));
        assert_eq!(soon(run.result()).await, Ok(7));
        let listed = messages(&run).await;
        assert_eq!((listed.len(), is_taken(&listed[0])), (1, true));
    })
    .await;
}
