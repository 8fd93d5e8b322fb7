perennial lock
git diff --exit-code perennial.lock
