import { expect, test } from 'vitest';
import { limitsOf, limitTable } from './limits.mjs';

const document = {
  methods: [
    {
      name: 'webhooks.stats',
      params: [
        { name: 'hours', schema: { type: ['integer', 'null'], minimum: 1, maximum: 720 } },
        { name: 'schedule', schema: { anyOf: [{ $ref: '#/components/schemas/ScheduleInput' }, { type: 'null' }] } },
      ],
    },
    {
      name: 'audit.list',
      params: [
        { name: 'limit', schema: { minimum: 1, maximum: 500 } },
        { name: 'cursor', schema: {} },
      ],
    },
    {
      name: 'push.list',
      params: [
        { name: 'limit', schema: { minimum: 1, maximum: 400 } },
        { name: 'cursor', schema: {} },
      ],
    },
    {
      name: 'replay',
      params: [
        { name: 'limit', schema: { maximum: 10_000 } },
        { name: 'q', schema: { maxLength: 200 } },
      ],
    },
  ],
  components: {
    schemas: {
      ScheduleInput: {
        properties: { every_seconds: { minimum: 1 }, next: { $ref: '#/components/schemas/ScheduleInput' } },
      },
      Result: { properties: { count: { minimum: 0 } } },
    },
  },
};

test('parameters, and the schemas that they use, have a constant for each bound', () => {
  expect(Object.fromEntries(limitsOf(document))).toEqual({
    LIST_LIMIT_MAX: 400,
    REPLAY_LIMIT_MAX: 10_000,
    REPLAY_Q_MAX_LENGTH: 200,
    SCHEDULE_INPUT_EVERY_SECONDS_MIN: 1,
    WEBHOOKS_STATS_HOURS_MAX: 720,
    WEBHOOKS_STATS_HOURS_MIN: 1,
  });
  expect(limitTable(document).split('\n')[0]).toBe('export const LIST_LIMIT_MAX = 400;');
});

test('a name with two values is refused', () => {
  const schema = { maximum: 1, anyOf: [{ maximum: 2 }] };
  expect(() => limitsOf({ methods: [{ name: 'a', params: [{ name: 'b', schema }] }] })).toThrow(
    'A_B_MAX has two values',
  );
});
