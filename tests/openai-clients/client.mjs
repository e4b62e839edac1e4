// Does what it is told with OpenAI's own client, against a gateway. Reads { base_url, key,
// jobs: [{ do, with?, key?, to? }] } from standard input and writes a list: for each job { ok: what came }
// or { error: the class, status, message }.
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import OpenAI from 'openai';

const kinds = {
  speech: async (client, job) => {
    const answer = await client.audio.speech.create(job.with);
    return Buffer.from(await answer.arrayBuffer()).toString('base64');
  },
  stream: async (client, job) => {
    const answer = await client.audio.speech.create(job.with);
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(job.to));
    return answer.headers.get('content-type');
  },
  transcribe: (client, job) =>
    client.audio.transcriptions.create({ ...job.with, file: createReadStream(job.with.file) }),
  speech_events: async (client, job) => {
    const answer = await client.audio.speech.create(job.with);
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
    return lines.map((line) => JSON.parse(line.slice(6)));
  },
  transcribe_events: async (client, job) => {
    const wanted = { ...job.with, file: createReadStream(job.with.file), stream: true };
    const events = [];
    for await (const event of await client.audio.transcriptions.create(wanted)) events.push(event);
    return events;
  },
  translate: (client, job) =>
    client.audio.translations.create({ ...job.with, file: createReadStream(job.with.file) }),
  voices: (client) => client.get('/audio/voices'),
  models: async (client) => {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    return ids;
  },
  model: (client, job) => client.models.retrieve(job.with.id),
  chat: (client, job) => client.chat.completions.create(job.with),
  chat_stream: async (client, job) => {
    const options = { stream: true, stream_options: { include_usage: true } };
    const chunks = [];
    for await (const chunk of await client.chat.completions.create({ ...job.with, ...options })) {
      chunks.push(chunk);
    }
    return chunks;
  },
  respond: async (client, job) => {
    const answer = await client.responses.create(job.with);
    return { text: answer.output_text, ...answer };
  },
  respond_stream: async (client, job) => {
    const events = client.responses.stream(job.with);
    const list = [];
    for await (const event of events) list.push(event.type);
    return { kinds: list, text: (await events.finalResponse()).output_text };
  },
};

const run = async (order, job) => {
  // By itself the client tries again what was answered with 5xx.
  const client = new OpenAI({
    baseURL: order.base_url, apiKey: job.key ?? order.key, maxRetries: 0, timeout: 60_000,
  });
  try {
    return { ok: await kinds[job.do](client, job) };
  } catch (error) {
    if (!(error instanceof OpenAI.APIError) || !error.status) throw error;
    return { error: error.constructor.name, status: error.status, message: error.message };
  }
};

let input = '';
for await (const chunk of process.stdin) input += chunk;
const order = JSON.parse(input);
const answers = [];
for (const job of order.jobs) answers.push(await run(order, job));
console.log(JSON.stringify(answers));
