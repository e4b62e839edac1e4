//! Statements that are sent together: one round trip for many.

use super::{Conn, Raw};
use crate::postgres::{self, Each};
use crate::postgres_answers::Answer;
use crate::sql::{FromRow, Query, Row, Value};
use crate::take::{FoundTwo, TakeFirst, TakeRow, TakeRowOf};
use crate::{StoreError, fault, sqlite};

impl Conn {
    /// Runs a statement once for each row of values. Returns the number of rows affected by each run.
    /// PostgreSQL receives all of them before it answers the first (pipelining).
    pub(crate) fn run_each<'a>(
        &'a mut self,
        sql: &'a str,
        rows: &'a [Vec<Value<'_>>],
    ) -> Answer<'a, Vec<u64>> {
        fault::point();
        self.record(sql, rows.first());
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::run_each(db, sql, rows),
                Raw::Postgres(client) => {
                    let answer = postgres::run_each(client, sql, rows);
                    self.pipeline.ask(client, answer).await
                }
            };
            self.noted(ran)
        })
    }

    /// Runs a statement that returns rows once for each row of values, pipelined like [`Self::run_each`]. Returns the
    /// first row of each run.
    pub(crate) async fn find_each<T: FromRow>(
        &mut self,
        sql: &str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<Vec<Option<T>>, StoreError> {
        let mut found = Vec::with_capacity(rows.len());
        self.take_each((sql, rows), &mut |row| push_first(&mut found, row))
            .await?;
        Ok(found)
    }

    fn take_each<'a>(&'a mut self, each: Each<'a>, take: &'a mut TakeFirst<'_>) -> Answer<'a, ()> {
        self.record(each.0, each.1.first());
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::find_each(db, each, take),
                Raw::Postgres(client) => {
                    let answer = postgres::find_each(client, each);
                    let found = self.pipeline.ask(client, answer).await;
                    found.and_then(|found| give_firsts(&found, take))
                }
            };
            self.noted(ran)
        })
    }

    /// Like [`Self::find_each`] for two statements: all runs of the first, then all of the second, in one round trip.
    pub(crate) async fn find_each_of_two<A: FromRow, B: FromRow>(
        &mut self,
        first: Each<'_>,
        second: Each<'_>,
    ) -> Result<FoundTwo<A, B>, StoreError> {
        let mut firsts = Vec::with_capacity(first.1.len());
        let mut seconds = Vec::with_capacity(second.1.len());
        self.take_each_of_two(
            (first, &mut |row| push_first(&mut firsts, row)),
            (second, &mut |row| push_first(&mut seconds, row)),
        )
        .await?;
        Ok((firsts, seconds))
    }

    fn take_each_of_two<'a>(
        &'a mut self,
        (first, take_first): (Each<'a>, &'a mut TakeFirst<'_>),
        (second, take_second): (Each<'a>, &'a mut TakeFirst<'_>),
    ) -> Answer<'a, ()> {
        self.record(first.0, first.1.first());
        self.record(second.0, second.1.first());
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::find_each(db, first, take_first)
                    .and_then(|()| sqlite::find_each(db, second, take_second)),
                Raw::Postgres(client) => {
                    let answer = postgres::find_each_of_two(client, first, second);
                    let found = self.pipeline.ask(client, answer).await;
                    found.and_then(|(firsts, seconds)| {
                        give_firsts(&firsts, take_first)?;
                        give_firsts(&seconds, take_second)
                    })
                }
            };
            self.noted(ran)
        })
    }

    /// Runs queries in one round trip. Returns the rows of each.
    pub(crate) async fn lists<A: FromRow, B: FromRow>(
        &mut self,
        first: &Query<'_>,
        others: &[Query<'_>],
    ) -> Result<(Vec<A>, Vec<Vec<B>>), StoreError> {
        let mut of_first = Vec::new();
        let mut of_others: Vec<_> = others.iter().map(|_| Vec::new()).collect();
        let mut take_other = |place: usize, row: &Row<'_>| {
            if let Some(rows) = of_others.get_mut(place) {
                rows.push(B::from_row(row)?);
            }
            Ok(())
        };
        let mut take_first = |row: &Row<'_>| {
            of_first.push(A::from_row(row)?);
            Ok(false)
        };
        self.take_lists((first, &mut take_first), (others, &mut take_other))
            .await?;
        Ok((of_first, of_others))
    }

    fn take_lists<'a>(
        &'a mut self,
        (first, take_first): (&'a Query<'_>, &'a mut TakeRow<'_>),
        (others, take_other): (&'a [Query<'_>], &'a mut TakeRowOf<'_>),
    ) -> Answer<'a, ()> {
        self.record(&first.text, Some(&first.values));
        for other in others {
            self.record(&other.text, Some(&other.values));
        }
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::list(db, first, take_first).and_then(|()| {
                    others.iter().enumerate().try_for_each(|(place, query)| {
                        sqlite::list(db, query, &mut |row| take_other(place, row).map(|()| false))
                    })
                }),
                Raw::Postgres(client) => {
                    let answer = postgres::lists(client, first, others);
                    let found = self.pipeline.ask(client, answer).await;
                    found.and_then(|(of_first, of_others)| {
                        for row in &of_first {
                            take_first(&Row::Postgres(row))?;
                        }
                        for (place, rows) in of_others.iter().enumerate() {
                            for row in rows {
                                take_other(place, &Row::Postgres(row))?;
                            }
                        }
                        Ok(())
                    })
                }
            };
            self.noted(ran)
        })
    }
}

fn push_first<T: FromRow>(
    found: &mut Vec<Option<T>>,
    row: Option<&Row<'_>>,
) -> Result<(), StoreError> {
    found.push(row.map(T::from_row).transpose()?);
    Ok(())
}

fn give_firsts(
    found: &[Option<tokio_postgres::Row>],
    take: &mut TakeFirst<'_>,
) -> Result<(), StoreError> {
    found
        .iter()
        .try_for_each(|row| take(row.as_ref().map(Row::Postgres).as_ref()))
}
