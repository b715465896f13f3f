//! One connection from its first byte to its end.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{Implementation, ProtocolVersion, ServerCapabilities, ServerConfig};
use tokio::time::timeout;

use super::asking::Asking;
use super::closing::{Closing, Ended};
use super::front::{Calls, Front};
use super::outbox;
use super::progress::Progress;
use super::service::HostService;
use super::wire::Wire;
use crate::bridge::host::ToolHost;

/// After the end of input or a signal, answers that are under way have this long.
const GRACE: Duration = Duration::from_millis(300);

/// And what they say has this long to be taken by the client.
const LAST_WRITES: Duration = Duration::from_millis(400);

/// What the server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFace {
    pub name: String,
    pub version: String,
    /// Whether a client may expect notifications that the tool list changed.
    pub tool_list_changes: bool,
}

impl Default for ServerFace {
    fn default() -> Self {
        Self {
            name: "openadapt-agent".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tool_list_changes: false,
        }
    }
}

/// Serves one client until it goes away or `shutdown` is ready. Afterwards nothing is under way here any more: a call
/// that got no answer in time is dropped, which by `ToolHost`'s contract stops no work.
pub async fn serve<H: ToolHost>(
    host: Arc<H>,
    face: ServerFace,
    wire: Wire,
    shutdown: impl Future<Output = ()> + Send,
) -> Ended {
    let closing = Closing::default();
    let (outbox, writing) = outbox::open(wire.writer, closing.clone());
    let asking = Asking::new(outbox.clone());
    let progress = Progress::new(outbox.clone());
    let calls = Calls { asking: asking.clone(), progress: progress.clone() };
    let front = Front::new(wire.reader, wire.hangup, outbox.clone(), calls, closing.clone()).until(wire.called_off);
    let service = HostService::new(Arc::clone(&host), config(&*host, face), asking, progress);
    {
        let mut session = pin!(async {
            // Either ends by `closing`, which knows the reason.
            if let Ok(running) = service.serve(front).await {
                let _ = running.waiting().await;
            }
        });
        let nothing_to_wait_for = tokio::select! {
            () = &mut session => true,
            ended = closing.begun() => ended == Ended::ReaderGone,
            () = shutdown => {
                closing.begin(Ended::Shutdown);
                false
            }
        };
        if !nothing_to_wait_for {
            // Whether it made it in time makes no difference to what follows.
            let _ = timeout(GRACE, session).await;
        }
        outbox.seal();
    }
    // rmcp ends by itself only after its input did.
    closing.begin(Ended::Eof);
    writing.finish(LAST_WRITES).await;
    closing.begun().await
}

fn config<H: ToolHost>(host: &H, face: ServerFace) -> ServerConfig {
    let mut capabilities = ServerCapabilities::builder().enable_tools().build();
    if let Some(tools) = &mut capabilities.tools {
        tools.list_changed = Some(face.tool_list_changes);
    }
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new(face.name, face.version))
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
        .with_instructions(host.instructions())
}
