# The commands people type most; everything works without just too.

# Build and run the load driver.
stress *ARGS:
    cargo run --release -- stress {{ARGS}}

# All tests.
test:
    cargo test --workspace

# Layers, sizes, module headers.
tidy:
    cargo xtask tidy

# Model checks of the concurrent primitives.
loom:
    .ci/loom

# Whole logs, and the locks of transactions, under threads that are switched by chance.
shuttle RUNS="300":
    PIKEPOLE_SHUTTLE_RUNS={{RUNS}} .ci/shuttle

# Random lock orders against the whole engine on a busy machine.
lock-orders SECONDS="1800":
    cargo test -p pikepole-session --test lock_orders -- --seconds {{SECONDS}}

# Fuzz of the log's blocks, of log records, and of clients' messages, for some seconds each.
fuzz SECONDS="60":
    cargo test -p pikepole-log --test fuzz -- --seconds {{SECONDS}}
    cargo test -p pikepole-storage --test fuzz -- --seconds {{SECONDS}}
    cargo test -p pikepole-tds --test fuzz -- --seconds {{SECONDS}}

# The whole gate.
gate:
    .ci/run
