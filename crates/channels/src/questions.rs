//! Questions with buttons to people who are paired with an account, and their answers.

use crate::account::read_fields;
use crate::error::{Failure, SendError};
use crate::handle::{Channels, Inner};
use crate::live::LiveAccount;
use crate::receive::receiver_of;
use crate::receivers::buttons::{
    Button, Buttons, Note, Press, Question, QuestionText, SentQuestion,
};
use crate::target::{OpenAccount, TargetError};
use gatehouse_domain::visible::Visible;
use gatehouse_store::StoreError;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The form in which an account shows questions.
#[derive(Clone, Copy)]
pub struct QuestionForm(&'static dyn Buttons);

impl fmt::Debug for QuestionForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuestionForm").finish_non_exhaustive()
    }
}

impl QuestionForm {
    /// Escapes the characters that the vendor would remove, replace or interpret in a part of the call.
    pub fn escape<'a>(&self, text: &'a str) -> Visible<'a> {
        self.0.escape(text)
    }

    /// Returns whether the text is short enough for a question.
    pub fn fits(&self, text: &QuestionText) -> bool {
        self.0.fits(text)
    }
}

/// The direct conversation that a target sends to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectChat {
    /// The channel account.
    pub account: String,
    pub chat: String,
    pub person: String,
}

/// Returns the account's buttons, if the account receives messages and its vendor has buttons.
fn buttons_of(account: &LiveAccount) -> Option<&'static dyn Buttons> {
    receiver_of(account)?.buttons()
}

impl Channels {
    /// Returns the form in which an account shows questions, or `None` if it cannot ask questions.
    pub async fn question_form(
        &self,
        account_id: &str,
    ) -> Result<Option<QuestionForm>, StoreError> {
        let accounts = self.0.live_accounts().await?;
        let account = accounts.find(account_id);
        Ok(account.and_then(|it| buttons_of(it)).map(QuestionForm))
    }

    /// Returns the direct conversation that a target sends to, if the account can ask questions in it.
    pub async fn find_direct_chat(&self, target: &str) -> Result<Option<DirectChat>, SendError> {
        let account = match self.0.find_target(target).await {
            Ok(account) => account,
            Err(TargetError::Store(error)) => return Err(Failure::from(error).into()),
            Err(_) => return Ok(None),
        };
        let Some((buttons, chat)) = buttons_of(&account).zip(chat_of(&account)) else {
            return Ok(None);
        };
        let opened = account.open(&self.0).await?;
        let person = buttons.person_of(self.0.source(&opened), &chat).await?;
        Ok(person.map(|person| DirectChat {
            account: account.found.row.id.clone(),
            person,
            chat,
        }))
    }

    /// Returns the direct conversation with a person who has written to the account, if the conversation is known and
    /// the account can ask questions in it.
    pub async fn find_chat_with(
        &self,
        account_id: &str,
        person: &str,
    ) -> Result<Option<String>, StoreError> {
        let accounts = self.0.live_accounts().await?;
        let Some(buttons) = accounts.find(account_id).and_then(|it| buttons_of(it)) else {
            return Ok(None);
        };
        if let Some(chat) = buttons.chat_of(person) {
            return Ok(Some(chat));
        }
        let (account, person) = (account_id.to_owned(), person.to_owned());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.find_direct_chat_of(&account, &person).await })
        });
        read.await
    }

    /// Sends a question. Does not retry.
    pub async fn ask(
        &self,
        account_id: &str,
        question: Question<'_>,
    ) -> Result<SentQuestion, SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        Ok(buttons.ask(self.0.source(&opened), question).await?)
    }

    /// Replaces the buttons of a question whose text is `text`.
    pub async fn offer_buttons(
        &self,
        account_id: &str,
        at: (&str, &str),
        text: &QuestionText,
        rows: &[Vec<Button>],
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.offer(source, at, text, rows).await?)
    }

    /// Replaces the text of a question and removes its buttons.
    pub async fn close_question(
        &self,
        account_id: &str,
        at: (&str, &str),
        text: &QuestionText,
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        Ok(buttons.close(self.0.source(&opened), at, text).await?)
    }

    /// Removes the buttons of the question with the pressed button. If the vendor can only replace text and buttons
    /// together, the question shows `result`.
    pub async fn retire_question(
        &self,
        account_id: &str,
        press: &Press,
        result: &str,
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.retire(source, press, result).await?)
    }

    /// Sends the result to the person who pressed a button.
    pub async fn acknowledge_press(
        &self,
        account_id: &str,
        press: &Press,
        note: Note<'_>,
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.acknowledge(source, press, note).await?)
    }
}

/// Returns the conversation that the account sends to.
fn chat_of(account: &LiveAccount) -> Option<String> {
    let key = receiver_of(account)?.place_keys().chat;
    let fields = read_fields(&account.found.row);
    let chat = fields.get(key).and_then(Value::as_str)?.trim();
    (!chat.is_empty()).then(|| chat.to_owned())
}

impl Inner {
    async fn open_buttons(
        &self,
        account_id: &str,
    ) -> Result<(Arc<OpenAccount>, &'static dyn Buttons), Failure> {
        let (opened, receiver) = self.open_receiver(account_id).await?;
        let buttons = receiver.buttons();
        let buttons = buttons.ok_or_else(|| Failure::refused("The channel has no buttons."))?;
        Ok((opened, buttons))
    }
}
