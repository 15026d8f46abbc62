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

# The whole gate.
gate:
    .ci/run
