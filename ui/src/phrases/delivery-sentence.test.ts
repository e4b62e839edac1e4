import { beforeEach, expect, test, vi } from 'vitest';
import { nameOf } from '../pages/chat/session';
import { deliverySentenceOf } from './delivery-sentence.svelte';

const rpc = vi.hoisted(() => vi.fn());
vi.mock('../client/rpc', () => ({ rpc }));
vi.mock(import('../paraglide/runtime.js'), async (original) => ({ ...(await original()), getLocale: () => 'de' }));

const LIST = {
  webhooks: [
    { id: 'wh_1', public_id: 'pub_1', source_profile: 'codehost_a' },
    { id: 'wh_2', public_id: 'pub_2', source_profile: 'shopify' },
  ],
  next_cursor: null,
};

beforeEach(() => rpc.mockReset());

test('the webhooks are listed again after a failure, once for all sentences, and not for one that is gone', async () => {
  rpc.mockRejectedValueOnce(new Error('offline'));
  deliverySentenceOf('marie commented on issue #7.', 'wh_1');
  await vi.waitFor(() => expect(rpc).toHaveBeenCalledTimes(1));
  await Promise.resolve();
  rpc.mockResolvedValue(LIST);
  await vi.waitFor(() => {
    for (const webhook of ['wh_1', 'pub_2', 'wh_gone']) deliverySentenceOf('marie commented on issue #7.', webhook);
    expect(deliverySentenceOf('marie commented on issue #7.', 'wh_1')).toBe('marie hat Issue #7 kommentiert.');
  });
  expect(rpc).toHaveBeenCalledTimes(2);
  expect(deliverySentenceOf('The order #1 was paid.', 'pub_2')).toBe('Die Bestellung #1 wurde bezahlt.');
  expect(deliverySentenceOf('The order #1 was paid.', 'wh_gone')).toBe('The order #1 was paid.');
  await new Promise((resolve) => setTimeout(resolve));
  expect(rpc).toHaveBeenCalledTimes(2);
});

test('a label that a person gave to the session of a webhook stays as it is', () => {
  const name = (label: string) => nameOf({ key: 'webhook:wh_1:codehost:house/gate:7', label });
  expect(name('marie opened issue #7: Milk')).toBe('marie hat Issue #7 geöffnet: Milk');
  expect(name('Fix login: urgent')).toBe('Fix login: urgent');
  expect(name('Ask Marie about the rollout.')).toBe('Ask Marie about the rollout.');
  expect(name('constructor')).toBe('constructor');
});
