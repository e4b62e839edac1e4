//! Automation events: workflows, checks, deployments.

use super::REPOSITORY;
use crate::summary::Field;
use crate::vendors::github::summary::fields;

pub(super) const WORKFLOW_RUN: &[Field] = &[
    REPOSITORY,
    Field::text(
        "Workflow",
        "{workflow_run.name|workflow.name} #{workflow_run.run_number|'?'}",
    ),
    Field::line("Title", &["workflow_run.display_title"]),
    Field::line("Environment", &["environment"]),
    Field::line("Status", &["workflow_run.status"]),
    Field::line("Conclusion", &["workflow_run.conclusion"]),
    Field::line("Branch", &["workflow_run.head_branch"]),
    Field::text(
        "Commit",
        "{^workflow_run.head_sha} {%workflow_run.head_commit.message|''}",
    ),
    Field::line("Begun by", &["workflow_run.event"]),
    Field::line("Actor", &["workflow_run.actor.login"]),
    Field::line("Attempt", &["workflow_run.run_attempt"]),
    Field::list("Pull requests", "workflow_run.pull_requests", "number"),
    Field::line("URL", &["workflow_run.html_url"]),
];

pub(super) const WORKFLOW_JOB: &[Field] = &[
    REPOSITORY,
    Field::line("Workflow", &["workflow_job.workflow_name"]),
    Field::line("Job", &["workflow_job.name"]),
    Field::line("Status", &["workflow_job.status"]),
    Field::line("Conclusion", &["workflow_job.conclusion"]),
    Field::own(fields::failed_steps),
    Field::line("Branch", &["workflow_job.head_branch"]),
    Field::text("Commit", "{^workflow_job.head_sha}"),
    Field::line("Runner", &["workflow_job.runner_name"]),
    Field::list("Wanted runners", "workflow_job.labels", ""),
    Field::line("URL", &["workflow_job.html_url"]),
];

pub(super) const CHECK: &[Field] = &[
    REPOSITORY,
    Field::line(
        "Check",
        &["check_run.name", "check_suite.app.name", "context"],
    ),
    Field::line(
        "Status",
        &["check_run.status", "check_suite.status", "state"],
    ),
    Field::line(
        "Conclusion",
        &["check_run.conclusion", "check_suite.conclusion"],
    ),
    Field::line("Title", &["check_run.output.title", "description"]),
    Field::line(
        "Branch",
        &[
            "check_run.check_suite.head_branch",
            "check_suite.head_branch",
            "branches.0.name",
        ],
    ),
    Field::text("Commit", "{^check_run.head_sha|^check_suite.head_sha|^sha}"),
    Field::text(
        "Message",
        "{%check_suite.head_commit.message|%commit.commit.message}",
    ),
    Field::list("Pull requests", "check_run.pull_requests", "number"),
    Field::list("Pull requests", "check_suite.pull_requests", "number"),
    Field::line("App", &["check_run.app.name"]),
    Field::line(
        "URL",
        &[
            "check_run.html_url",
            "check_run.details_url",
            "target_url",
            "commit.html_url",
        ],
    ),
    Field::block("Text", &["check_run.output.summary"]),
];

pub(super) const DEPLOYMENT: &[Field] = &[
    REPOSITORY,
    Field::line(
        "Environment",
        &["deployment.environment", "deployment_status.environment"],
    ),
    Field::line("Status", &["deployment_status.state"]),
    Field::line("Ref", &["deployment.ref"]),
    Field::text("Commit", "{^deployment.sha}"),
    Field::line("Task", &["deployment.task"]),
    Field::line("Begun by", &["deployment.creator.login"]),
    Field::line(
        "Description",
        &["deployment_status.description", "deployment.description"],
    ),
    Field::line(
        "URL",
        &[
            "deployment_status.environment_url",
            "deployment_status.log_url",
            "deployment_status.target_url",
            "workflow_run.html_url",
            "check_run.html_url",
        ],
    ),
];
