#[workflow(lock = false)]
#[durable(lock = false)]
