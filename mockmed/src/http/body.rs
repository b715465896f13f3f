//! A request's body, read whole within a size and a time.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_LENGTH;

use super::{App, BODY_LIMIT};
use crate::clinic::Unusable;

/// The body and its size as far as it is known. A body that is announced as too large isn't waited for.
pub struct Body {
    pub bytes: Result<Bytes, Unusable>,
    pub size: Option<usize>,
}

impl FromRequest<App> for Body {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, app: &App) -> Result<Self, Self::Rejection> {
        let length = request.headers().get(CONTENT_LENGTH);
        let announced: Option<usize> = length.and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|size| size > BODY_LIMIT) {
            return Ok(Self { bytes: Err(too_large()), size: announced });
        }
        let read = tokio::time::timeout(app.body_within, Bytes::from_request(request, app)).await;
        let bytes = match read {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)))) => Err(too_large()),
            Ok(Err(_)) | Err(_) => Err(Unusable::Unreadable),
        };
        let size = bytes.as_ref().map_or(announced, |bytes| Some(bytes.len()));
        Ok(Self { bytes, size })
    }
}

const fn too_large() -> Unusable {
    Unusable::TooLarge { limit: BODY_LIMIT }
}
