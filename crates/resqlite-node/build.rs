//! Sets up linking as a Node-API module.

fn main() {
    napi_build::setup();
}
