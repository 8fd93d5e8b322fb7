perennial lock
