//! The time from the revocation of an API key on one node until the sockets that were opened with it on the other
//! nodes are closed.

use super::node::Node;
use super::{Cluster, PATIENCE};
use crate::figures::{greatest, median, millis};
use crate::gate::revocation::{end, open};
use crate::owner::text;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const REVOCATIONS: usize = 20;
/// Close code of a socket whose credential has ended.
const NOT_AUTHENTICATED: u16 = 4401;

/// Creates a key. The connection for it may still be one that the last fault made silent: then the first call fails.
async fn make_key(node: &Node, wanted: &Value) -> Result<Value> {
    let begun = Instant::now();
    loop {
        let place = ("POST", "/api/auth/api-keys");
        match node
            .installation
            .call(node.server()?, place, Some(wanted))
            .await
        {
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            made => return made,
        }
    }
}

/// Measures revocations on a cluster without faults.
pub async fn measure(cluster: &Cluster, report: &mut Report) -> Result<()> {
    let wanted = json!({ "label": "revoked", "scopes": ["operator.read"] });
    let mut times = Vec::new();
    for number in 0..REVOCATIONS {
        let node = cluster
            .nodes
            .get(number % cluster.nodes.len())
            .context("no node")?;
        let key = make_key(node, &wanted).await?;
        let bearer = format!("Bearer {}", text(&key, "key")?);
        let mut sockets = Vec::new();
        for other in &cluster.nodes {
            sockets.push(open(other.server()?, "authorization", &bearer).await?);
        }
        let path = format!("/api/auth/api-keys/{}", text(&key, "id")?);
        let begun = Instant::now();
        node.installation
            .call(node.server()?, ("DELETE", &path), None)
            .await?;
        for mut socket in sockets {
            let code = end(&mut socket).await?;
            ensure!(code == NOT_AUTHENTICATED, "closed with {code}");
        }
        times.push(begun.elapsed());
    }
    let worst = millis(greatest(&times));
    report.value(
        format!("revocation to closed sockets on all nodes, median of {REVOCATIONS}"),
        Goal::Reported,
        millis(median(&mut times)),
        (1, "ms"),
    );
    report.value(
        format!("revocation to closed sockets on all nodes, longest of {REVOCATIONS}"),
        Goal::AtMost(1000.0),
        worst,
        (1, "ms"),
    );
    Ok(())
}
