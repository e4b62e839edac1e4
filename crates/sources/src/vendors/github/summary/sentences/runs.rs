//! Automation events: workflows, checks, deployments.

use super::who;

pub(super) const RUNS: &[(&str, &str)] = &[
    who!(
        "workflow_dispatch",
        "started the workflow {workflow} manually"
    ),
    who!(
        "repository_dispatch",
        "sent the repository the event {action}"
    ),
    who!(
        "deployment.created",
        "began a deployment to {deployment.environment}"
    ),
    (
        "deployment_status.created",
        "The deployment to {deployment.environment|deployment_status.environment} is now: {deployment_status.state|deployment_status.status|'unknown'}.",
    ),
    who!(
        "deployment_review.requested",
        "asked to deploy to {environment|'an environment'}"
    ),
    who!(
        "deployment_review.approved",
        "approved the deployment to {environment|'an environment'}"
    ),
    who!(
        "deployment_review.rejected",
        "rejected the deployment to {environment|'an environment'}"
    ),
    (
        "workflow_run",
        "The workflow {workflow_run.name|workflow.name} was {action|'changed'}.",
    ),
    (
        "workflow_run.requested",
        "A run of the workflow {workflow_run.name|workflow.name} was requested.",
    ),
    (
        "workflow_run.in_progress",
        "The workflow {workflow_run.name|workflow.name} runs.",
    ),
    (
        "workflow_run.completed",
        "The workflow {workflow_run.name|workflow.name} ended: {workflow_run.conclusion|'no conclusion'}.",
    ),
    (
        "workflow_job",
        "The job {workflow_job.name} is {workflow_job.status|action|'changed'}.",
    ),
    (
        "workflow_job.in_progress",
        "The job {workflow_job.name} runs.",
    ),
    (
        "workflow_job.completed",
        "The job {workflow_job.name} ended: {workflow_job.conclusion|'no conclusion'}.",
    ),
    (
        "check_run",
        "The check {check_run.name} was {action|'changed'}.",
    ),
    who!(
        "check_run.rerequested",
        "requested the check {check_run.name} again"
    ),
    who!(
        "check_run.requested_action",
        "asked the check {check_run.name} for {requested_action.identifier|'something'}"
    ),
    (
        "check_run.completed",
        "The check {check_run.name} ended: {check_run.conclusion|'no conclusion'}.",
    ),
    (
        "check_suite",
        "Checks of commit {^check_suite.head_sha|'(unknown)'} were {action|'changed'}.",
    ),
    (
        "check_suite.completed",
        "The checks of commit {^check_suite.head_sha|'(unknown)'} ended: {check_suite.conclusion|'no conclusion'}.",
    ),
    (
        "status",
        "The status {context} of commit {^sha} is {state}.",
    ),
    (
        "page_build",
        "The build of the site ended: {build.status|'unknown'}.",
    ),
    (
        "merge_group.checks_requested",
        "The merge queue asks for checks.",
    ),
    who!(
        "discussion",
        "{action|'changed'} discussion #{discussion.number}"
    ),
];
