//! The workflows, as they were released first and as they are afterwards.

#![allow(unreachable_pub)]

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
    pub card: Card,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Card {
    pub number: String,
    pub holder: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shipment {
    pub order: Order,
    pub parcel: uuid::Uuid,
    pub label: String,
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refused {
    pub code: u32,
    pub at: Vec<u32>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refused with {}", self.code)
    }
}

impl std::error::Error for Refused {}

pub fn order(id: &str) -> Order {
    Order {
        id: id.to_owned(),
        cents: 1_200,
        card: Card {
            number: "4000 0012 3456 7899".to_owned(),
            holder: "Alice".to_owned(),
        },
    }
}

/// As released.
pub mod v1 {
    use super::{Order, Refused, Shipment};
    use perennial::prelude::*;

    #[activity(pure)]
    pub async fn charge_card(acx: &ActivityCx, order: Order) -> Result<String, Failure> {
        let _ = acx;
        Ok(order.id)
    }

    #[activity(pure)]
    pub async fn ship(acx: &ActivityCx, shipment: Shipment) -> Result<(), Failure> {
        let _ = (acx, shipment);
        Ok(())
    }

    #[activity(pure, name = "give.back")]
    pub async fn give_back(acx: &ActivityCx, receipt: String) -> Result<(), Failure<Refused>> {
        let _ = (acx, receipt);
        Ok(())
    }

    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        let receipt = charge_card(cx, order.clone()).await?;
        cx.sleep(days(1)).await?;
        let parcel = cx.uuid();
        let shipment = Shipment {
            label: format!("parcel {parcel} for {}", order.card.holder),
            lines: (0..4).map(|at| format!("article {at}, in stock")).collect(),
            parcel,
            order,
        };
        ship(cx, shipment).await?;
        Ok(receipt)
    }

    #[workflow]
    pub async fn refund(cx: &Cx, receipt: String) -> Result<(), Error> {
        give_back(cx, receipt).await?;
        Ok(())
    }
}

/// As changed without a thought of the runs in flight.
pub mod v2 {
    use super::v1::{charge_card, give_back, ship};
    use super::{Order, Shipment};
    use perennial::prelude::*;

    #[activity(pure)]
    pub async fn check_fraud(acx: &ActivityCx, cents: u64) -> Result<(), Failure> {
        let _ = (acx, cents);
        Ok(())
    }

    #[workflow]
    pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
        check_fraud(cx, order.cents).await?;
        let receipt = charge_card(cx, order.clone()).await?;
        cx.sleep(days(1)).await?;
        let parcel = cx.uuid();
        let shipment = Shipment {
            label: format!("parcel {parcel} for {}", order.card.holder),
            lines: (0..4)
                .map(|at| format!("article {at}, {} in stock", 7 * at))
                .collect(),
            parcel,
            order,
        };
        ship(cx, shipment).await?;
        Ok(receipt)
    }

    #[workflow]
    pub async fn refund(cx: &Cx, receipt: String) -> Result<(), Error> {
        give_back(cx, format!("receipt {receipt}")).await?;
        Ok(())
    }

    #[workflow]
    pub async fn unrelated(cx: &Cx) -> Result<(), Error> {
        let _ = cx;
        Ok(())
    }
}
