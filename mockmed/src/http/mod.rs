//! The app over HTTP: pages, API, and the rules that hold for every request.

mod api;
mod body;
mod guard;
mod pages;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, post};

use crate::clinic::Clinic;
use crate::server::Options;

/// The most bytes that a request's body may have.
pub const BODY_LIMIT: usize = 64 * 1024;

/// What every request may use.
#[derive(Debug, Clone)]
pub struct App {
    clinic: Arc<Clinic>,
    port: u16,
    late_by: Duration,
    body_within: Duration,
}

impl App {
    pub const fn new(clinic: Arc<Clinic>, port: u16, options: &Options) -> Self {
        Self { clinic, port, late_by: options.late_by, body_within: options.body_within }
    }
}

pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/api/db", get(api::db))
        .route("/api/reset", post(api::reset))
        .route("/api/encounter", post(api::encounter))
        .route("/api/encounter/{id}", delete(api::delete));
    pages::routes()
        .merge(api)
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::not_found)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}
