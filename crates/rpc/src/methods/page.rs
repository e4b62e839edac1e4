//! Pagination of lists: `limit` from 1 to 500, 50 by default, and an opaque cursor.

use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

/// The default number of rows per page.
const DEFAULT: i64 = 50;
/// The maximum number of rows per page.
const MAX: i64 = 500;

/// Params of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageParams {
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Validates `limit` and applies the default.
pub fn rows(limit: Option<i64>) -> Result<usize, Problem> {
    let limit = limit.unwrap_or(DEFAULT);
    usize::try_from(limit)
        .ok()
        .filter(|_| (1..=MAX).contains(&limit))
        .ok_or_else(|| Problem::invalid_params("limit", format!("expected 1 to {MAX}")))
}

/// The longest text to search for. The database engines refuse patterns that are much longer.
const MAX_SEARCH_CHARS: usize = 200;

/// Validates a text to search for.
pub fn searched(q: Option<String>) -> Result<Option<String>, Problem> {
    let length = q.as_deref().map_or(0, |q| q.chars().count());
    if length > MAX_SEARCH_CHARS {
        let reason = format!("at most {MAX_SEARCH_CHARS} characters");
        return Err(Problem::invalid_params("q", reason));
    }
    Ok(q)
}

/// Returns one page of a list sorted by name, and the cursor of the next page, which is the last name on this page.
pub fn by_name<T>(
    all: Vec<T>,
    params: &PageParams,
    name: impl Fn(&T) -> &str,
) -> Result<(Vec<T>, Option<String>), Problem> {
    let rows = rows(params.limit)?;
    let mut page: Vec<T> = all
        .into_iter()
        .filter(|item| {
            params
                .cursor
                .as_deref()
                .is_none_or(|after| name(item) > after)
        })
        .take(rows + 1)
        .collect();
    let more = page.len() > rows;
    page.truncate(rows);
    let next = page
        .last()
        .filter(|_| more)
        .map(|last| name(last).to_owned());
    Ok((page, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_from_1_to_500() {
        assert_eq!(rows(None).unwrap(), 50);
        for (limit, good) in [
            (0, false),
            (1, true),
            (500, true),
            (501, false),
            (-1, false),
        ] {
            assert_eq!(rows(Some(limit)).is_ok(), good, "{limit}");
        }
        assert_eq!(rows(Some(0)).unwrap_err().details["field"], "limit");
    }

    #[test]
    fn a_text_to_search_for_has_at_most_200_characters() {
        assert!(searched(Some("ü".repeat(200))).is_ok());
        let refused = searched(Some("ü".repeat(201))).unwrap_err();
        assert_eq!(refused.details["field"], "q");
    }

    #[test]
    fn pages_follow_each_other_without_gap() {
        let page = |cursor: Option<&str>, limit| {
            let params = PageParams {
                limit: Some(limit),
                cursor: cursor.map(str::to_owned),
            };
            by_name(vec!["a", "b", "c"], &params, |item| item).unwrap()
        };
        assert_eq!(page(None, 2), (vec!["a", "b"], Some("b".to_owned())));
        assert_eq!(page(Some("b"), 2), (vec!["c"], None));
        assert_eq!(page(None, 3), (vec!["a", "b", "c"], None));
        assert_eq!(page(Some("c"), 3), (vec![], None));
    }
}
