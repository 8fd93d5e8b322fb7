//! Workflows of which a marker was retired, as the attribute makes them where `perennial.lock` lists one.

use std::future::Future;

use perennial::prelude::*;
use perennial::{Graph, RetiredMarker, Workflow};

macro_rules! retired {
    ($name:ident $version:literal) => {
        pub(crate) mod $name {
            use super::*;

            pub(crate) struct Flow;

            impl Workflow for Flow {
                const NAME: &'static str = "flow";
                const GRAPH: &'static Graph = &Graph {
                    retired: &[RetiredMarker {
                        id: "m",
                        version: $version,
                    }],
                    ..Graph::here("flow", None, &[])
                };
                type Input = ();
                type Output = Result<Vec<u32>, Error>;

                fn body(cx: &'static Cx, (): ()) -> impl Future<Output = Self::Output> {
                    let sleeps = [cx.sleep(seconds(1)), cx.sleep(seconds(2))];
                    async move {
                        for sleep in sleeps {
                            sleep.await?;
                        }
                        Ok(vec![2, 2])
                    }
                }
            }
        }
    };
}

retired!(retired_1 1);
retired!(retired_2 2);
