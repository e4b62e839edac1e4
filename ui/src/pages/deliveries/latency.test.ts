import { expect, it } from 'vitest';
import { tookOf } from './latency';

const latency = (mean_ms: number, histogram: Record<string, number>) => ({ mean_ms, p95_ms: 0, histogram });

it('puts hours together: the mean by their numbers, the percentile by their histograms', () => {
  const took = tookOf([latency(100, { '128': 95 }), null, undefined, latency(5000, { '8192': 5 })]);
  expect(took).toEqual({ mean_ms: 345, p95_ms: 128 });
  const slower = tookOf([latency(100, { '128': 90 }), latency(5000, { '8192': 10 })]);
  expect(slower?.p95_ms).toBe(6144);
});

it('knows the first and the last bucket, and that there may be nothing', () => {
  expect(tookOf([latency(2, { '4': 1 })])).toEqual({ mean_ms: 2, p95_ms: 4 });
  expect(tookOf([latency(900_000, { over: 1 })])?.p95_ms).toBe(524_288);
  expect(tookOf([])).toBeNull();
});
