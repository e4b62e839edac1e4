// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';

const rpc = vi.hoisted(() => vi.fn());
vi.mock('../../client/rpc', () => ({ rpc }));

import { Attached } from './attached.svelte';
import { Failure } from '../../client/failure';
import { Conversation } from './conversation.svelte';
import type { Message } from './turns';

const message = (id: string): Message => ({
  id,
  session: 'ses_1',
  turn_id: `turn_${id}`,
  role: 'user',
  origin: 'owner',
  content: id,
  created_at: '2026-11-29T12:00:00.000Z',
});

/** An answer that arrives when the test resolves it. */
function later<T>() {
  let arrive!: (value: T) => void;
  const answer = new Promise<T>((resolve) => (arrive = resolve));
  return { answer, arrive };
}

beforeEach(() => {
  rpc.mockReset();
  sessionStorage.clear();
});

test('what is typed while a conversation begins belongs to its session', async () => {
  const sent = later<{ session: string; turn_id: string }>();
  rpc.mockReturnValueOnce(sent.answer);
  const begun = new Conversation(null);
  const done = begun.send({ text: 'First' });
  begun.draft = 'Second';
  sent.arrive({ session: 'ses_1', turn_id: 'turn_1' });
  await done;

  // The next new conversation is empty, even after a reload, and the session keeps its draft.
  expect(new Conversation(null).draft).toBe('');
  expect(new Conversation('ses_1').draft).toBe('Second');
  begun.draft = '';
  expect(new Conversation('ses_1').draft).toBe('');
});

test('a load that is asked for during another one is made after it', async () => {
  const slow = later<{ messages: Message[] }>();
  rpc.mockReturnValueOnce(slow.answer).mockResolvedValueOnce({ messages: [message('a'), message('b')] });
  const conversation = new Conversation('ses_1');
  const first = conversation.load();
  // The socket has opened. The answer to the first request may lack events since that request.
  const second = conversation.load();
  slow.arrive({ messages: [message('a')] });
  await Promise.all([first, second]);
  expect(conversation.messages.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(rpc).toHaveBeenCalledTimes(2);
});

test('editing a message puts the unsent one aside', () => {
  const conversation = new Conversation('ses_1');
  const file = new Attached('plan.pdf');
  conversation.draft = 'Not sent yet';
  conversation.files = [file];
  conversation.edit('turn_1', 'An old question', []);
  conversation.edit('turn_2', 'Another old question', []);
  conversation.draft = 'A better question';
  expect([conversation.editing, conversation.files]).toEqual(['turn_2', []]);
  // A reload ends the edit. Its text must not become the draft, which would be sent as a new message.
  expect(new Conversation('ses_1').draft).toBe('Not sent yet');

  expect(conversation.endEdit()).toBe('turn_2');
  expect([conversation.editing, conversation.draft, conversation.files]).toEqual([null, 'Not sent yet', [file]]);
  expect(conversation.endEdit()).toBeNull();
  expect(conversation.draft).toBe('Not sent yet');
});

test('a refused message returns to the composer, and what was typed since stays', async () => {
  rpc.mockRejectedValue(new Failure('RATE_LIMITED', 'Too many requests.'));
  const conversation = new Conversation('ses_1');
  await conversation.send({ text: 'Refused' });
  conversation.draft = 'Typed since';
  const [pending] = conversation.pending;
  if (pending) conversation.takeBack(pending);
  expect([conversation.pending, conversation.draft]).toEqual([[], 'Refused\n\nTyped since']);
});

test('a refused message does not get into the edit of another one, and keeps its files', async () => {
  rpc.mockRejectedValue(new Failure('RATE_LIMITED', 'Too many requests.'));
  const conversation = new Conversation('ses_1');
  const plan = { id: 'att_1', name: 'plan.pdf', type: 'application/pdf', size: 3 };
  await conversation.send({ text: 'Refused', attachments: [plan] });
  const file = new Attached('notes.txt');
  conversation.draft = 'Typed since';
  conversation.files = [file];
  conversation.edit('turn_1', 'An old question', []);
  const [pending] = conversation.pending;
  if (pending) conversation.takeBack(pending);
  expect([conversation.editing, conversation.draft]).toEqual([null, 'Refused\n\nTyped since']);
  expect(conversation.files.map(({ name }) => name)).toEqual(['plan.pdf', 'notes.txt']);
});

test('a refused edit returns as an edit', async () => {
  rpc.mockResolvedValueOnce({ messages: [message('a')] });
  const conversation = new Conversation('ses_1');
  await conversation.load();
  rpc.mockRejectedValue(new Failure('RATE_LIMITED', 'Too many requests.'));
  await conversation.send({ text: 'Better' }, 'turn_a');
  conversation.draft = 'Typed since';
  const [pending] = conversation.pending;
  if (pending) conversation.takeBack(pending);
  expect([conversation.editing, conversation.draft]).toEqual(['turn_a', 'Better']);
  expect([conversation.endEdit(), conversation.draft]).toEqual(['turn_a', 'Typed since']);
});
