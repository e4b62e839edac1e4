import { expect, test, vi } from 'vitest';
import { download } from './download';

const answerWith = (body: BodyInit, headers: Record<string, string>) =>
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { headers })));

test('a file has the name that the gateway gave it', async () => {
  answerWith('content', { 'content-disposition': 'attachment; filename="gatehouse-20260131T030000Z.backup.age"' });
  const { blob, name } = await download('/api/backup/stream', {}, 1000);
  expect(name).toBe('gatehouse-20260131T030000Z.backup.age');
  expect(await blob.text()).toBe('content');
});

test('a file whose answer ends early is not saved', async () => {
  const broken = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('con'));
      controller.error(new TypeError('network error'));
    },
  });
  answerWith(broken, {});
  await expect(download('/api/backup/stream', {}, 1000)).rejects.toMatchObject({ code: 'LOST' });
});

test('a refusal is reported with its code', async () => {
  const refused = Response.json({ code: 'CONFLICT', error: 'Another one is being sent.' }, { status: 409 });
  vi.stubGlobal('fetch', () => Promise.resolve(refused));
  await expect(download('/api/backup/stream', {}, 1000)).rejects.toMatchObject({ code: 'CONFLICT' });
});
