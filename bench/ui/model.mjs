// A model server with the streaming format of OpenAI's published API (Chat Completions). The length and the speed
// of an answer can be set.
import { createServer } from 'node:http';

const WORDS = 'The gate stands open and the lamp is lit. **Who comes by night** knocks twice; `ring()` is for the day.\n\n'.split(' ');

export class ModelServer {
  /** The number of words, and the delay between them. */
  words = 20;
  pause_ms = 0;

  static async start() {
    const self = new ModelServer();
    const server = createServer((request, response) => void self.#answer(request, response));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    self.url = `http://127.0.0.1:${server.address().port}/v1`;
    self.close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return self;
  }

  get environment() {
    return {
      SERVICE_MODELS__PROVIDERS__LOCAL__BASE_URL: this.url,
      SERVICE_MODELS__PROVIDERS__LOCAL__API_KEY: 'sk-bench',
      SERVICE_MODELS__DEFAULT: 'local/test-model',
    };
  }

  async #answer(request, response) {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'test-model', object: 'model', created: 1, owned_by: 'bench' }] }));
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const { stream } = JSON.parse(body);
    const head = { id: 'chatcmpl-bench', created: 1, model: 'test-model' };
    const usage = { prompt_tokens: 12, completion_tokens: this.words, total_tokens: 12 + this.words };
    const text = (at) => `${WORDS[at % WORDS.length]} `;
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const content = Array.from({ length: this.words }, (_, at) => text(at)).join('');
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      return response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta, finish_reason = null) =>
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    send({ role: 'assistant', content: '' });
    for (let at = 0; at < this.words && !response.destroyed; at++) {
      send({ content: text(at) });
      if (this.pause_ms) await new Promise((resolve) => setTimeout(resolve, this.pause_ms));
    }
    send({}, 'stop');
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  }
}
