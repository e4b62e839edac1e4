import { afterEach, expect, test, vi } from 'vitest';
import { downloadBackup, fileName } from './download';

const { saveAs } = vi.hoisted(() => ({ saveAs: vi.fn<(blob: Blob, name: string) => void>() }));
vi.mock('../../../parts/save', () => ({ saveAs }));

const NAME = 'gatehouse-20260131T120000Z.backup';
/** The user may enter a name other than the suggested one. */
const CHOSEN = 'before the update.backup';

afterEach(() => {
  vi.unstubAllGlobals();
  saveAs.mockReset();
});

/** A gateway that sends two pieces and then ends, breaks off, or sends nothing more. */
function respond(end: 'complete' | 'broken' | 'stalled') {
  const body = new ReadableStream<Uint8Array>({
    start(to) {
      for (const piece of ['ab', 'c']) to.enqueue(new TextEncoder().encode(piece));
      if (end === 'complete') to.close();
    },
    pull(to) {
      if (end === 'broken') to.error(new TypeError('network error'));
    },
  });
  const headers = { 'content-disposition': `attachment; filename="${NAME}"` };
  const fetched = vi.fn((_url: string, _request: RequestInit) => Promise.resolve(new Response(body, { headers })));
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

/** A browser that writes to a file, which has no content before its end. */
function writable() {
  let stored = '';
  let written = '';
  const remove = vi.fn(() => Promise.resolve());
  const decoder = new TextDecoder();
  const file = {
    name: CHOSEN,
    getFile: () => Promise.resolve(new Blob([stored])),
    createWritable: () =>
      Promise.resolve(
        new WritableStream<Uint8Array>({
          write: (piece) => void (written += decoder.decode(piece)),
          close: () => void (stored = written),
        }),
      ),
    remove,
  };
  const picker = vi.fn((_options: { suggestedName: string }) => Promise.resolve(file));
  vi.stubGlobal('window', { showSaveFilePicker: picker });
  return { picker, remove, content: () => stored };
}

function download(passphrase = '', onbytes: (bytes: number) => void = () => undefined) {
  const stop = new AbortController();
  const { signal } = stop;
  return { stop, done: downloadBackup({ passphrase, isEncrypted: passphrase !== '', signal, onbytes }) };
}

test('suggested names are those of the gateway', () => {
  const at = new Date('2026-01-31T12:00:00.999Z');
  expect(fileName(at, false)).toBe(NAME);
  expect(fileName(at, true)).toBe(`${NAME}.age`);
});

test('a backup is written to the chosen file while it arrives', async () => {
  const fetched = respond('complete');
  const { picker, remove, content } = writable();
  const arrived: number[] = [];
  expect(await download('open sesame', (bytes) => arrived.push(bytes)).done).toBe(CHOSEN);
  expect(content()).toBe('abc');
  expect(arrived).toEqual([2, 3]);
  expect(picker.mock.calls[0]?.[0].suggestedName).toMatch(/^gatehouse-\d{8}T\d{6}Z\.backup\.age$/);
  expect(fetched.mock.calls[0]?.[1].body).toBe('{"passphrase":"open sesame"}');
  expect(saveAs).not.toHaveBeenCalled();
  expect(remove).not.toHaveBeenCalled();
});

test('a backup is saved when it is complete if the browser cannot write to a file, or does not permit it', async () => {
  const denied = () => Promise.reject(new DOMException('', 'SecurityError'));
  for (const browser of [{}, { showSaveFilePicker: denied }]) {
    saveAs.mockReset();
    const fetched = respond('complete');
    vi.stubGlobal('window', browser);
    expect(await download().done).toBe(NAME);
    const [blob, name] = saveAs.mock.calls[0] ?? [];
    expect([await blob?.text(), name]).toEqual(['abc', NAME]);
    expect(fetched.mock.calls[0]?.[1].body).toBe('{}');
  }
});

test('a backup that breaks off is not saved', async () => {
  respond('broken');
  const { remove, content } = writable();
  await expect(download().done).rejects.toMatchObject({ code: 'LOST' });
  expect(content()).toBe('');
  expect(remove).toHaveBeenCalledOnce();
  respond('broken');
  vi.stubGlobal('window', {});
  await expect(download().done).rejects.toMatchObject({ code: 'LOST' });
  expect(saveAs).not.toHaveBeenCalled();
});

test('the page of a proxy is not saved as a backup', async () => {
  const fetched = vi.fn((_url: string, _request: RequestInit) => Promise.resolve(new Response('<h1>Log in</h1>')));
  vi.stubGlobal('fetch', fetched);
  const { remove, content } = writable();
  await expect(download().done).rejects.toMatchObject({ code: 'OFFLINE' });
  expect(content()).toBe('');
  expect(remove).toHaveBeenCalledOnce();
  vi.stubGlobal('window', {});
  await expect(download().done).rejects.toMatchObject({ code: 'OFFLINE' });
  expect(saveAs).not.toHaveBeenCalled();
});

test('the request ends if the browser cannot write to the file', async () => {
  const fetched = respond('stalled');
  const createWritable = () => Promise.reject(new DOMException('', 'NotAllowedError'));
  const file = { name: CHOSEN, getFile: () => Promise.resolve(new Blob()), createWritable };
  vi.stubGlobal('window', { showSaveFilePicker: () => Promise.resolve(file) });
  await expect(download().done).rejects.toMatchObject({ code: 'LOST' });
  expect(fetched.mock.calls[0]?.[1].signal?.aborted).toBe(true);
});

test('a canceled download saves nothing', async () => {
  respond('stalled');
  vi.stubGlobal('window', {});
  const { stop, done } = download('', () => stop.abort());
  await expect(done).rejects.toMatchObject({ name: 'AbortError' });
  expect(saveAs).not.toHaveBeenCalled();
});

test('a file with content stays after a refusal, and without a file nothing is requested', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ code: 'CONFLICT', error: 'Busy.' }, { status: 409 })));
  const remove = vi.fn(() => Promise.resolve());
  const file = { getFile: () => Promise.resolve(new Blob(['an earlier backup'])), remove };
  vi.stubGlobal('window', { showSaveFilePicker: () => Promise.resolve(file) });
  await expect(download().done).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(remove).not.toHaveBeenCalled();

  const fetched = respond('complete');
  const cancel = () => Promise.reject(new DOMException('', 'AbortError'));
  vi.stubGlobal('window', { showSaveFilePicker: cancel });
  await expect(download().done).rejects.toMatchObject({ name: 'AbortError' });
  expect(fetched).not.toHaveBeenCalled();
});
