perennial lock --check
