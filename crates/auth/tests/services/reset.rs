//! 'Remove all auth'.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, row_of};
use gatehouse_domain::{ErrorCode, Scope};
use gatehouse_store::testing::databases;

#[tokio::test]
async fn a_reset_removes_every_credential_and_makes_a_code() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let context = gate.context(AWAY, &key).await;
        assert_eq!(
            code_of(gate.auth.reset(&caller(&context)).await),
            Some(ErrorCode::Forbidden)
        );
        let held = [
            gate.context(AWAY, &key).await,
            gate.context(HERE, &cookie).await,
        ];
        assert_eq!(gate.code(), None);
        let outcome = gate.auth.reset(&caller(&held[1])).await.unwrap();
        assert!(outcome.body.kept.contains(&"vault".to_owned()));
        assert!(outcome.body.kept.contains(&"secrets".to_owned()));
        assert_eq!(outcome.cookies.len(), 2, "cleared in both forms");
        for context in &held {
            assert!(!gate.auth.is_live(context.identity().unwrap()));
        }
        let facts = gate.auth.facts();
        assert!(facts.auth_disabled && !facts.setup_complete && !facts.has_password);
        let code = gate.code().unwrap();
        gate.restart().await;
        assert_eq!(gate.code(), Some(code.clone()), "also after a restart");
        assert_eq!(row_of(&gate.context(AWAY, "").await.decision), "Loopback");
        let refused = gate.setup(AWAY, PASSWORD, None).await;
        assert_eq!(code_of(refused), Some(ErrorCode::Forbidden));
        gate.setup(AWAY, PASSWORD, Some(&code)).await.unwrap();
        for credential in [&cookie, &key, ""] {
            assert!(!gate.is_let_in(AWAY, credential).await);
        }
        assert!(!gate.auth.facts().auth_disabled);
    }
}
