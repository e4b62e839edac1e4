import { describe, expect, it } from 'vitest';
import { indexOf, isFiltered, join, matches, NO_FILTERS, rowOf } from './rows';
import type { Delivery, Status } from './status';

const delivery = (at: number, status: Status = 'queued', more: Partial<Delivery> = {}): Delivery => ({
  id: `del_${String(at).padStart(4, '0')}`,
  webhook_id: 'hook_a',
  status,
  event_type: 'push',
  received_at: '2026-11-21T17:00:00.000Z',
  attempts: 0,
  headers: {},
  body_size: 2,
  body_preview: '{"who":"Ada"}',
  response_actions: [],
  ...more,
});
const rows = [5, 3, 1].map((at) => rowOf(delivery(at)));
const options = { filters: NO_FILTERS, hold: false, complete: true };
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => Number(id.slice(4)));

describe('what comes live', () => {
  it('changes known rows in place and puts new ones where they belong', () => {
    const after = join({ rows, fresh: [] }, [delivery(3, 'completed'), delivery(6), delivery(4)], options);
    expect(ids(after.rows)).toEqual([6, 5, 4, 3, 1]);
    expect(after.rows[3]?.status).toBe('completed');
  });

  it('moves nothing while the person reads', () => {
    const held = { ...options, hold: true };
    let after = join({ rows, fresh: [] }, [delivery(6), delivery(7), delivery(5, 'failed')], held);
    after = join(after, [delivery(6, 'completed')], held);
    expect(ids(after.rows)).toEqual([5, 3, 1]);
    expect(after.rows[0]?.status).toBe('failed');
    expect(after.fresh.map((row) => [row.id, row.status])).toEqual([
      ['del_0007', 'queued'],
      ['del_0006', 'completed'],
    ]);
  });

  it('leaves what is older than the loaded rows to their page', () => {
    expect(ids(join({ rows, fresh: [] }, [delivery(0)], { ...options, complete: false }).rows)).toEqual([5, 3, 1]);
    expect(ids(join({ rows, fresh: [] }, [delivery(0)], options).rows)).toEqual([5, 3, 1, 0]);
  });

  it('keeps to the filters', () => {
    const filters = { ...NO_FILTERS, q: 'PUS', statuses: ['queued' as const] };
    expect(matches(delivery(1), filters)).toBe(true);
    expect(matches(delivery(1, 'failed'), filters)).toBe(false);
    expect(matches(delivery(1, 'queued', { event_type: 'issues.opened' }), { ...NO_FILTERS, event: 'issues.*' })).toBe(
      true,
    );
    expect(matches(delivery(1), { ...NO_FILTERS, event: 'issues.*' })).toBe(false);
    // Events do not include the start of the body.
    expect(matches(delivery(1), { ...NO_FILTERS, q: 'ada' })).toBe(false);
    expect(matches(delivery(1), { ...NO_FILTERS, webhook: 'hook_b' })).toBe(false);
    expect(matches(delivery(1), { ...NO_FILTERS, restored: true })).toBe(false);
    expect(matches(delivery(1), { ...NO_FILTERS, event: 'pus' })).toBe(false);
    const statuses: Status[] = ['failed', 'queued'];
    expect(matches(delivery(1), { ...NO_FILTERS, statuses })).toBe(true);
    const at = Date.parse('2026-11-21T17:00:00.000Z');
    expect(matches(delivery(1), { ...NO_FILTERS, between: [at, at + 1] })).toBe(true);
    expect(matches(delivery(1), { ...NO_FILTERS, between: [at - 1, at] })).toBe(false);
  });

  it('keeps to the period, also when an older delivery is attempted again', () => {
    const at = Date.parse('2026-11-21T17:00:00.000Z');
    const lastHour = { ...NO_FILTERS, within_ms: 3_600_000 };
    expect(matches(delivery(1), lastHour, at + 3_600_000)).toBe(true);
    expect(matches(delivery(1), lastHour, at + 3_600_001)).toBe(false);
  });
});

it('finds rows by id', () => {
  expect([7, 5, 3, 1, 0].map((at) => indexOf(rows, delivery(at).id))).toEqual([-1, 0, 1, 2, -1]);
});

it('counts a period as a filter', () => {
  const between = [1, 2] as const;
  expect([isFiltered(NO_FILTERS), isFiltered({ ...NO_FILTERS, between })]).toEqual([false, true]);
});
