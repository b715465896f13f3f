//! A tool that needs a person's yes is called twice: it says what to ask, the person is asked, and it is told the answer.

use std::collections::BTreeMap;

use rmcp::model::{ElicitRequest, InputRequest, InputRequiredResult, RequestId};
use serde_json::{Map, Value, json};

use super::answer::{FAILED_SAFELY, FORM_NOT_OPEN, NO_FORMS};
use super::asking::Asking;
use super::form;
use super::request_state::{Opened, RequestStates};
use crate::bridge::host::{CallContext, ClientTraits, Form, FormAnswer, FormOutcome, ToolAnswer, ToolHost};

/// The name of our one input request.
const INPUT: &str = "confirmation";

/// One tool call as the client made it.
pub struct Call<'a, H> {
    pub host: &'a H,
    pub name: &'a str,
    pub arguments: Map<String, Value>,
    pub client: ClientTraits,
}

/// How a person is asked, which depends on the era.
pub enum Way {
    /// The client is asked while the call waits.
    Legacy { call: RequestId },
    /// The call is answered with a question, and comes again with what the client brings back.
    Modern { state: Option<String>, responses: Option<BTreeMap<String, Value>> },
}

pub enum Step {
    Answered(ToolAnswer),
    InputRequired(InputRequiredResult),
}

pub struct Consent {
    asking: Asking,
    states: RequestStates,
}

impl Consent {
    pub fn new(asking: Asking) -> Self {
        Self { asking, states: RequestStates::new() }
    }

    pub fn asking(&self) -> &Asking {
        &self.asking
    }

    pub async fn call<H: ToolHost>(&self, call: Call<'_, H>, way: Way) -> Step {
        match way {
            Way::Legacy { call: id } => Step::Answered(self.ask_and_wait(call, id).await),
            Way::Modern { state: None, responses: None } => self.ask_back(call).await,
            Way::Modern { state, responses } => {
                let opened = state.and_then(|state| self.states.spend(call.name, &call.arguments, &state).ok());
                let Some(Opened { binding, late }) = opened else {
                    return Step::Answered(ToolAnswer::Refused(FORM_NOT_OPEN));
                };
                match responses.as_ref().and_then(|responses| responses.get(INPUT)) {
                    _ if late => Step::Answered(call.second(FormOutcome::Unanswered, binding).await),
                    Some(response) => Step::Answered(call.second(form::outcome(response), binding).await),
                    // The protocol has the server ask again for what is missing.
                    None => self.ask_back(call).await,
                }
            }
        }
    }

    async fn ask_and_wait<H: ToolHost>(&self, call: Call<'_, H>, id: RequestId) -> ToolAnswer {
        let form = match call.first().await {
            Ok(form) => form,
            Err(answer) => return answer,
        };
        let given = self.asking.ask(id, &form, call.host.form_limit()).await;
        call.second(given, form.binding).await
    }

    async fn ask_back<H: ToolHost>(&self, call: Call<'_, H>) -> Step {
        let form = match call.first().await {
            Ok(form) => form,
            Err(answer) => return Step::Answered(answer),
        };
        let request = json!({ "method": "elicitation/create", "params": form::params(&form) });
        let request = serde_json::from_value::<ElicitRequest>(request).ok();
        let state = self.states.seal(call.name, &call.arguments, form.binding, call.host.form_limit());
        match (request, state) {
            (Some(request), Some(state)) => {
                let requests = BTreeMap::from([(INPUT.to_owned(), InputRequest::Elicitation(request))]);
                Step::InputRequired(InputRequiredResult::new(Some(requests), Some(state)))
            }
            _ => Step::Answered(ToolAnswer::Refused(FAILED_SAFELY)),
        }
    }
}

impl<H: ToolHost> Call<'_, H> {
    /// The form to show, or the answer if the tool asks nothing.
    async fn first(&self) -> Result<Form, ToolAnswer> {
        let cx = CallContext { client: self.client, answer: None };
        match self.host.call(self.name, self.arguments.clone(), cx).await {
            // A client is never sent a form that it didn't declare.
            ToolAnswer::Ask(_) if !self.client.form_elicitation => Err(ToolAnswer::Refused(NO_FORMS)),
            ToolAnswer::Ask(form) => Ok(form),
            answer => Err(answer),
        }
    }

    async fn second(self, given: FormOutcome, binding: String) -> ToolAnswer {
        let cx = CallContext { client: self.client, answer: Some(FormAnswer { given, binding }) };
        match self.host.call(self.name, self.arguments, cx).await {
            // A person is asked once for each call.
            ToolAnswer::Ask(_) => ToolAnswer::Refused(FAILED_SAFELY),
            answer => answer,
        }
    }
}
