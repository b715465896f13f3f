//! The service that rmcp dispatches to: the bridge behind a guard for panics and cancellation.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, CustomResult, ErrorCode,
    ListToolsResult, PaginatedRequestParams, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::answer;
use super::asking::Asking;
use super::consent::{Call, Consent, Step, Way};
use super::envelope::Fault;
use super::progress::Progress;
use crate::bridge::host::{ClientTraits, ToolAnswer, ToolHost};

/// What rmcp serves.
pub struct HostService<H> {
    handler: Handler<H>,
}

impl<H: ToolHost> HostService<H> {
    pub fn new(host: Arc<H>, config: ServerConfig, asking: Asking, progress: Progress) -> Self {
        let offered = AtomicU64::new(host.tools_offered());
        Self { handler: Handler { host, config, consent: Consent::new(asking), offered, progress } }
    }

    async fn answer(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let client = client_traits(&context);
        let lists_tools = matches!(request, ClientRequest::ListToolsRequest(_));
        let tells = matches!(request, ClientRequest::ListToolsRequest(_) | ClientRequest::CallToolRequest(_))
            && context.protocol_version().is_none_or(|version| version.has_initialize());
        if tells {
            self.handler.tell_of_changed_tools();
        }
        let mut result = self.handler.handle_request(request, context).await?;
        if let ServerResult::DiscoverResult(discovered) = &mut result
            && let Some(tools) = &mut discovered.capabilities.tools
        {
            // There are no subscriptions to tell of a change by.
            tools.list_changed = Some(false);
        }
        if !lists_tools {
            return Ok(result);
        }
        // rmcp's own type for a tool keeps only the keys that it knows, so it gives the frame and the rows go in as they
        // are.
        let mut list = serde_json::to_value(result).map_err(|_| internal())?;
        let rows = self.handler.host.tools(client).into_iter().map(answer::tool).collect();
        if let Value::Object(list) = &mut list {
            list.insert("tools".to_owned(), Value::Array(rows));
        }
        Ok(ServerResult::CustomResult(CustomResult::new(list)))
    }
}

impl<H: ToolHost> Service<RoleServer> for HostService<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let cancelled = context.ct.clone();
        tokio::select! {
            biased;
            // Before anything else, so that a yes that comes after it is none. The answer goes nowhere.
            () = cancelled.cancelled() => Err(internal()),
            answer = unpanicked(self.answer(request, context)) => answer.unwrap_or_else(|_| Err(internal())),
        }
    }

    async fn handle_notification(
        &self,
        _: ClientNotification,
        _: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.config.clone()
    }
}

struct Handler<H> {
    host: Arc<H>,
    config: ServerConfig,
    consent: Consent,
    /// Which tools the client was last told of.
    offered: AtomicU64,
    progress: Progress,
}

impl<H: ToolHost> Handler<H> {
    /// A modern client is told nothing unasked: it has no standing connection.
    fn tell_of_changed_tools(&self) {
        let now = self.host.tools_offered();
        if self.offered.swap(now, Ordering::SeqCst) != now {
            self.consent.asking().notify("notifications/tools/list_changed");
        }
    }
}

impl<H: ToolHost> ServerHandler for Handler<H> {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = client_traits(&context);
        let CallToolRequestParams { name, arguments, input_responses: responses, request_state: state, .. } = params;
        let call = Call { host: &*self.host, name: &name, arguments: arguments.unwrap_or_default(), client };
        let (id, token) = (context.id.clone(), context.meta.get_progress_token());
        let way = if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
            Way::Modern { state, responses }
        } else {
            Way::Legacy { call: context.id }
        };
        let answer = match unpanicked(self.progress.during(id, token, self.consent.call(call, way))).await {
            Ok(Step::Answered(answer)) => answer,
            Ok(Step::InputRequired(question)) => return Ok(CallToolResponse::InputRequired(question)),
            Err(_) => ToolAnswer::Refused(answer::FAILED_SAFELY),
        };
        let result = match answer {
            ToolAnswer::Object(object) => answer::object(object, self.host.has_output_schema(&name, client)),
            ToolAnswer::Refused(sentence) => answer::refused(sentence),
            ToolAnswer::UnknownTool => return Err(Fault::TOOL.into()),
            ToolAnswer::Ask(_) => answer::refused(answer::FAILED_SAFELY),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

impl From<Fault> for ErrorData {
    fn from(fault: Fault) -> Self {
        Self::new(ErrorCode(fault.code), fault.message, None)
    }
}

fn internal() -> ErrorData {
    Fault::INTERNAL.into()
}

/// In either era: `elicitation` is there, and has `form` or lacks `url`.
fn client_traits(context: &RequestContext<RoleServer>) -> ClientTraits {
    let elicitation = context.client_capabilities().and_then(|it| it.elicitation);
    ClientTraits { form_elicitation: elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none()) }
}

/// What was thrown is the panic hook's business.
type Thrown = Box<dyn Any + Send>;

async fn unpanicked<F: Future>(work: F) -> Result<F::Output, Thrown> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(thrown) => Poll::Ready(Err(thrown)),
    })
    .await
}
