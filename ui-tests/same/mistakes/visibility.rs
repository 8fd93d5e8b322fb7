use crate::sdk::*;

mod outer {
    pub mod inner {
        use crate::sdk::*;

        #[activity(pure)]
        async fn private(_acx: &ActivityCx) -> Result<u32, Never> {
            Ok(1)
        }

        #[activity(pure)]
        pub(in crate::outer) async fn in_outer(_acx: &ActivityCx) -> Result<u32, Never> {
            Ok(1)
        }

        #[activity(pure)]
        pub(crate) async fn in_crate(_acx: &ActivityCx) -> Result<u32, Never> {
            Ok(1)
        }

        #[workflow]
        pub(super) async fn in_super(cx: &Cx) -> Result<u32, Error> {
            Ok(private(cx).await? + in_outer(cx).await? + in_crate(cx).await?)
        }

        #[workflow]
        pub async fn public(_cx: &Cx) -> Result<u32, Error> {
            Ok(1)
        }

        #[durable]
        async fn private_helper(cx: &Cx) -> Result<u32, Error> {
            Ok(private(cx).await?)
        }
    }

    pub fn inside(cx: &Cx) {
        drop((inner::in_outer(cx), inner::in_super(cx), inner::in_crate(cx)));
        drop(inner::private(cx));
        drop(inner::private_helper(cx));
    }
}

fn outside(cx: &Cx) {
    drop((outer::inner::public(cx), outer::inner::in_crate(cx)));
    drop(outer::inner::in_outer(cx));
    drop(outer::inner::in_super(cx));
}

mod importing {
    use crate::outer::inner::in_crate;
    use crate::outer::inner::in_outer;
    use crate::outer::inner::private;
    use crate::outer::inner::private_helper;
}
