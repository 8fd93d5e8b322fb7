perennial lock --accept fulfil
