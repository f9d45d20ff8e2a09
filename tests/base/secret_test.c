/* SPDX-License-Identifier: Apache-2.0 */
/* secret_test.c - checks which texts are taken for secrets. */
#include "unit.h"

#include "base/clock.h"
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

static void variables(void **state)
{
	static const struct {
		const char *name, *value;
		bool secret;
	} rows[] = {
	    {"HF_TOKEN", "x", true},
	    {"aws_secret_access_key", "x", true},
	    {"AWS_ACCESS_KEY_ID", "AKIAX", true},
	    {"API_KEY", "x", true},
	    {"APIKEY", "x", true},
	    {"MYSQL_PASSWORD", "x", true},
	    {"PASSWORD2", "x", true},
	    {"TOKEN1", "x", true},
	    {"API_KEY_3", "x", true},
	    {"DB_PASS", "x", true},
	    {"DB_PW", "x", true},
	    {"PW", "x", true},
	    {"PIN", "1234", true},
	    {"CARD_PIN2", "1234", true},
	    {"OTP", "123456", true},
	    {"SESSION", "x", true},
	    {"PHPSESSID", "x", true},
	    {"APP_SESSION", "x", true},
	    {"SLACK_WEBHOOK", "https://hooks/T0/B0/x", true},
	    {"SLACK_WEBHOOK_URL", "https://hooks/T0/B0/x", true},
	    {"GOOGLE_APPLICATION_CREDENTIALS", "x", true},
	    {"AUTH", "x", true},
	    {"SESSION_COOKIE", "x", true},
	    {"SENTRY_DSN", "x", true},
	    {"API_TOKENS", "a,b", true},
	    {"MYSQL_PWD", "x", true},
	    {"ACCESSTOKEN", "x", true},
	    {"DATABASE_URL", "postgres://ana:hunter2@db/x", true},
	    {"DATABASE_URL", "postgres://ana:1234@db/x", true},
	    {"DATABASE_URL", "postgres://ana:pa/ss#@db/x", true},
	    {"REDIS_URL", "redis://:hunter2@db", true},
	    {"BROKERS", "amqp://a/b,amqp://ana:hunter2@b", true},
	    {"CONNECTION", "host=db Password=hunter2", true},
	    {"CONNECTION", "Uid=ana;Pwd=hunter2", true},
	    {"STORAGE", "AccountName=a;AccountKey=b==", true},
	    {"HEADERS", "x-api-key=abc", true},
	    {"HEADER", "Bearer xyz", true},
	    {"NOTE", "-----BEGIN PRIVATE KEY-----\nMIIE\n", true},
	    {"CALLBACK", "https://a.b/c?token=xyz", true},
	    {"COMMAND", "serve --token abc", true},
	    {"COMMAND", "curl -u ana:hunter2 http://a", true},
	    /* not secrets */
	    {"DATABASE_URL", "postgres://db/x", false},
	    {"PROXY", "http://proxy:8080/a@b", false},
	    {"REPOSITORY", "git@github.com:org/repo", false},
	    {"HOME_PAGE", "https://a.b/c:d@e", false},
	    {"KEYBOARD", "de", false},
	    {"XKB_KEYMAP", "de", false},
	    {"PATH", "/bin", false},
	    {"PWD", "/", false},
	    {"OLDPWD", "/", false},
	    {"XAUTHORITY", "/x", false},
	    {"SSH_AUTH_SOCK", "/tmp/x", false},
	    {"PASSENGERS", "3000", false},
	    {"PINNED_MEMORY", "1000", false},
	    {"PIN_MEMORY", "cuda:0", false},
	    {"TOKENIZERS_PARALLELISM", "false", false},
	    {"TOKENIZER", "gpt2", false},
	    {"MAX_TOKENS", "x", false},
	    {"MAX_TOKEN", "4096", false},
	    {"DESKTOP_SESSION", "gnome", false},
	    {"XDG_SESSION_TYPE", "x11", false},
	    {"SESSION_MANAGER", "local/x", false},
	    {"PASSWORD_FILE", "/run/x", false},
	    {"USE_AUTH", "true", false},
	    {"SPINDLE", "x", false},
	    {"MONKEY", "x", false},
	    {"CUDA_VISIBLE_DEVICES", "0", false},
	    {"NCCL_DEBUG", "INFO", false},
	    {"LABEL", "a bearer", false},
	    {"LESS", "--quit-if-one-screen --mouse", false},
	    {"COMMAND", "curl -u ana http://a:80/", false},
	    {"JAVA_OPTS", "-Xmx4g --max-tokens 9999", false},
	    {"", "", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (gk_secret_variable(rows[i].name, rows[i].value) !=
		    rows[i].secret)
			fail_msg("%s=%s", rows[i].name, rows[i].value);
}

/* '|' separates the arguments here. */
static char *covered(const char *args)
{
	struct gk_buf out = {0};
	char *copy = strdup(args);
	size_t len = strlen(args);

	for (size_t i = 0; i < len; i++)
		if (copy[i] == '|')
			copy[i] = '\0';
	gk_secret_arguments(&out, copy, len + 1);
	free(copy);
	assert_false(out.failed);
	for (size_t i = 0; i + 1 < out.len; i++)
		if (!out.data[i])
			out.data[i] = '|';
	return out.data;
}

#define X GK_SECRET_COVER

static void arguments(void **state)
{
	static const struct {
		const char *args, *shown; /* NULL: unchanged */
	} rows[] = {
	    {"serve|--password|hunter2|--port|80",
	     "serve|--password|" X "|--port|80"},
	    {"serve|--password=hunter2", "serve|--password=" X},
	    {"serve|--password=a b&c d", "serve|--password=" X},
	    {"serve|--password=\"a b\" c", "serve|--password=\"" X "\" c"},
	    {"serve|-password|x", "serve|-password|" X},
	    {"serve|--api-key|abc", "serve|--api-key|" X},
	    {"serve|--hf_token|abc", "serve|--hf_token|" X},
	    {"serve|--token1|abc", "serve|--token1|" X},
	    {"serve|--pw|abc", "serve|--pw|" X},
	    {"serve|--pin|1234", "serve|--pin|" X},
	    {"serve|--otp=123456", "serve|--otp=" X},
	    {"serve|--session=abc", "serve|--session=" X},
	    {"serve|--webhook|https://h/x", "serve|--webhook|" X},
	    {"curl|-H|Authorization: Bearer xyz", "curl|-H|Authorization: " X},
	    {"curl|-HAuthorization: Basic eDp5", "curl|-HAuthorization: " X},
	    {"curl|-H|X-Api-Key: xyz|http://a",
	     "curl|-H|X-Api-Key: " X "|http://a"},
	    {"curl|-H|x-api-key:xyz", "curl|-H|x-api-key:" X},
	    {"curl|-H|x-api-key=xyz", "curl|-H|x-api-key=" X},
	    {"curl|-H|Cookie: a=b; c=d", "curl|-H|Cookie: " X},
	    {"curl|--header=Authorization: Bearer xyz",
	     "curl|--header=Authorization: " X},
	    {"curl|Authorization:|xyz", "curl|Authorization:|" X},
	    {"echo|Bearer xyz and more", "echo|Bearer " X " and more"},
	    {"echo|bearer  xyz", "echo|bearer  " X},
	    {"echo|Bearer|xyz", "echo|Bearer|" X},
	    {"get|https://a.b/c?token=xyz&page=2#top",
	     "get|https://a.b/c?token=" X "&page=2#top"},
	    {"get|https://a.b/c?page=2&access_token=xyz",
	     "get|https://a.b/c?page=2&access_token=" X},
	    {"get|https://a.b/?X-Amz-Signature=f0&X-Amz-Date=1",
	     "get|https://a.b/?X-Amz-Signature=" X "&X-Amz-Date=1"},
	    {"get|https://a.b/?sv=2&sig=f0%3D", "get|https://a.b/?sv=2&sig=" X},
	    {"get|https://a.b/?key=AIza", "get|https://a.b/?key=" X},
	    {"psql|postgres://ana:hunter2@db:5432/x",
	     "psql|postgres://ana:" X "@db:5432/x"},
	    {"psql|scheme://user:pa/ss#@host", "psql|scheme://user:" X "@host"},
	    {"psql|scheme://user:p@ss@host/x",
	     "psql|scheme://user:" X "@host/x"},
	    {"mq|amqp://a:b@c,amqp://d:e@f",
	     "mq|amqp://a:" X "@c,amqp://d:" X "@f"},
	    {"redis|redis://:hunter2@h", "redis|redis://:" X "@h"},
	    {"env|DB_PASSWORD=hunter2|run", "env|DB_PASSWORD=" X "|run"},
	    {"java|-Dpassword=x|Main", "java|-Dpassword=" X "|Main"},
	    {"run|{\"user\": \"ana\", \"password\": \"x y\", \"n\": 1}",
	     "run|{\"user\": \"ana\", \"password\": \"" X "\", \"n\": 1}"},
	    {"python|-c|token = 'abc'; go()",
	     "python|-c|token = '" X "'; go()"},
	    {"run|Server=a;Pwd=b;X=c", "run|Server=a;Pwd=" X ";X=c"},
	    {"run|--key|-----BEGIN RSA PRIVATE KEY-----\nM\n-----END RSA "
	     "PRIVATE KEY-----\n",
	     "run|--key|" X},
	    {"run|a -----BEGIN PRIVATE KEY-----\nM", "run|a " X},
	    {"run|-----BEGIN OPENSSH PRIVATE KEY-----\nM\n-----END OPENSSH "
	     "PRIVATE KEY----- b",
	     "run|" X " b"},
	    /* an argument that is itself a command line */
	    {"sh|-c|x --token abc", "sh|-c|x --token " X},
	    {"sh|-c|x --token abc --port 80; y",
	     "sh|-c|x --token " X " --port 80; y"},
	    {"sh|-c|x --token 'abc def' y", "sh|-c|x --token '" X "' y"},
	    {"sh|-c|x --token='abc def' y", "sh|-c|x --token='" X "' y"},
	    {"sh|-c|x --token=abc\\ def y", "sh|-c|x --token=" X " y"},
	    {"sh|-c|x --token ab\"c d\"e y", "sh|-c|x --token " X " y"},
	    {"sh|-c|x --token \"ab\"'c d' y", "sh|-c|x --token " X " y"},
	    {"sh|-c|x --token \\\n  abc y", "sh|-c|x --token \\\n  " X " y"},
	    {"sh|-c|(x --password -abc)", "sh|-c|(x --password " X ")"},
	    {"sh|-c|x '--token' abc", "sh|-c|x '--token' " X},
	    {"ssh|h|bash -c \"x --token abc\"",
	     "ssh|h|bash -c \"x --token " X "\""},
	    {"srun|--wrap=x --token abc y", "srun|--wrap=x --token " X " y"},
	    {"bash|-lc|export TOKEN=abc; x", "bash|-lc|export TOKEN=" X "; x"},
	    {"bash|-lc|export TOKEN='a b'; x",
	     "bash|-lc|export TOKEN='" X "'; x"},
	    {"bash|-lc|export TOKEN=$'a b'c; x",
	     "bash|-lc|export TOKEN=" X "; x"},
	    {"sh|-c|x && TOKEN=abc y", "sh|-c|x && TOKEN=" X " y"},
	    {"sh|-c|TOKEN=abc x", "sh|-c|TOKEN=" X},
	    {"python|-c|run(['x', '--token', 'abc'])",
	     "python|-c|run(['x', '--token', '" X "'])"},
	    {"python|-c|os.environ[\"TOKEN\"]=\"abc\"",
	     "python|-c|os.environ[\"TOKEN\"]=\"" X "\""},
	    /* a value may begin with a dash */
	    {"x|--password|-x|-y", "x|--password|" X "|-y"},
	    {"x|--token|--aB3_x|y", "x|--token|" X "|y"},
	    {"x|--token|--=+a", "x|--token|" X},
	    /* strings within strings */
	    {"run|{\"password\":\"a\\\"bc\"}", "run|{\"password\":\"" X "\"}"},
	    {"run|{\"password\":\"a\\\\\",\"b\":\"c\"}",
	     "run|{\"password\":\"" X "\",\"b\":\"c\"}"},
	    {"run|{\\\"password\\\":\\\"abc\\\", \\\"b\\\":1}",
	     "run|{\\\"password\\\":\\\"" X "\\\", \\\"b\\\":1}"},
	    {"run|{\\\"password\\\":\\\"a\\\\\\\"b\\\"}",
	     "run|{\\\"password\\\":\\\"" X "\\\"}"},
	    {"run|{\"tokens\": [\"a\", \"b]\"], \"n\": 1}",
	     "run|{\"tokens\": " X ", \"n\": 1}"},
	    {"run|{\"secret\": {\"a\": {\"b\": \"}\"}}, \"n\": 1}",
	     "run|{\"secret\": " X ", \"n\": 1}"},
	    {"curl|-H|Cookie: a=\"b c\"; d=e", "curl|-H|Cookie: " X},
	    {"sh|-c|curl -H \"Cookie: a=b\" http://a",
	     "sh|-c|curl -H \"Cookie: " X "\" http://a"},
	    /* programs with options of their own */
	    {"curl|-u|ana:a:b|http://a", "curl|-u|ana:" X "|http://a"},
	    {"curl|-sSu|ana:abc", "curl|-sSu|ana:" X},
	    {"/usr/bin/curl|-uana:abc", "/usr/bin/curl|-uana:" X},
	    {"curl|--proxy-user|ana:abc", "curl|--proxy-user|ana:" X},
	    {"sh|-c|cd x && curl -s --user 'ana:a b' http://a",
	     "sh|-c|cd x && curl -s --user 'ana:" X "' http://a"},
	    {"mysql|-u|root|-phunter2|db", "mysql|-u|root|-p" X "|db"},
	    {"bash|-c|mysqldump -uroot -p'a b' db; ls -pa",
	     "bash|-c|mysqldump -uroot -p'" X "' db; ls -pa"},
	    {"sudo|sshpass|-p|abc|ssh|h", "sudo|sshpass|-p|" X "|ssh|h"},
	    {"sshpass|-pabc|ssh|h", "sshpass|-p" X "|ssh|h"},
	    {"redis-cli|-a|abc|ping", "redis-cli|-a|" X "|ping"},
	    {"ldapsearch|-xw|abc|-b|dc=a", "ldapsearch|-xw|" X "|-b|dc=a"},
	    {"smbclient|-U|ana%abc", "smbclient|-U|ana%" X},
	    {"openssl|rsa|-passin|pass:abc", "openssl|rsa|-passin|" X},
	    /* unchanged */
	    {"sh|-c|python t.py --max-tokens 512 --tokenizer gpt2", NULL},
	    {"sh|-c|x --password --verbose -y; z --key --level=3", NULL},
	    {"sh|-c|x --password - <f; y --token -- z; w --password", NULL},
	    {"sh|-c|x --pin-memory 12345 --sort-key name --auth on", NULL},
	    {"sh|-c|ls -la token/; sort -k 2 && echo key", NULL},
	    {"git|commit|-m|drop the token - it is in --token-file now", NULL},
	    {"x|--password|--log-level=3|--token|-1|--keys|-12", NULL},
	    {"x|{\"max_tokens\": [1, 2], \"tokenizer\": {\"a\": \"b\"}}", NULL},
	    {"x|{\"name\": \"a \\\"key\\\" b\", \"b\": 1}", NULL},
	    {"curl|-u|ana|http://h:80/x|-o|a:b", NULL},
	    {"curl|-u|ana:|http://h", NULL},
	    {"python|-u|a:b|-p|x|-a|y|-w|z|-px", NULL},
	    {"docker|run|-p|8080:80|-u|1000:1000|-w|/x", NULL},
	    {"mysql|-p|db|-P3306", NULL},
	    {"sh|-c|mysql db <q; mkdir -p/a && ssh -p22 h", NULL},
	    {"libcurl|-u|a:b", NULL},
	    {"mkdir|-p|/a:b|curl.txt", NULL},
	    {"x|a://u://p@h", "x|a://u:" X "@h"},
	    {"x|a://u:12@h|a://u:/x@h", "x|a://u:" X "@h|a://u:" X "@h"},
	    {"x|a://u:80x/y@h", "x|a://u:" X "@h"},
	    {"x|--pin|123|--otp|1.5|--pin=1x",
	     "x|--pin|" X "|--otp|" X "|--pin=" X},
	    {"x|--token|1x|--token=1.x", "x|--token|" X "|--token=" X},
	    {"x|token==y=z; key=a", "x|token==y=z; key=" X},
	    {"x|'key': 'a', \"key\":\"b\"",
	     "x|'key': '" X "', \"key\":\"" X "\""},
	    {"x|Key:|a|--key:|b|-k|c", "x|Key:|" X "|--key:|" X "|-k|c"},
	    {"x|Bearer a,b|bearer\ta;b|(Bearer a`b",
	     "x|Bearer " X ",b|bearer\t" X ";b|(Bearer " X "`b"},
	    {"x|a key=b|c  key  =  d", "x|a key=" X "|c  key  =  " X},
	    {"x|(key=a)b|[key=a]b|{key=a}b|<key=a>b|key=a,b",
	     "x|(key=" X ")b|[key=" X "]b|{key=" X "}b|<key=" X ">b|key=" X},
	    /* unchanged */
	    {"x|a://u:@h|a://:@h|a://u:8080/x@h|a://u:8?@h|a://u:8#@h", NULL},
	    {"x|--pin|12|--otp|0|--pin=99", NULL},
	    {"x|--token|12345|--token=1.5|--tokens=123", NULL},
	    {"x|bearerxyz|bearer  |bearer ;a", NULL},
	    {"x|-k|a|key|a|k:|a|--|key", NULL},
	    {"run|-----BEGIN CERTIFICATE-----\nM", NULL},
	    {"run|-----BEGIN PUBLIC KEY-----\nM", NULL},
	    {"python|train.py|--max-tokens=5|--max_new_tokens|512", NULL},
	    {"vllm|--tokenizer|gpt2|--tokenizer=gpt2", NULL},
	    {"vllm|--max-num-batched-tokens|8192", NULL},
	    {"vllm|--pipeline-parallel-size|2|--pipeline=x", NULL},
	    {"x|--pad-token|<pad>|--eos-token-id|2", NULL},
	    {"x|--tokens|512|--n-token|17.5", NULL},
	    {"x|--pin-memory|True|--pin_memory=True|-pin|on", NULL},
	    {"ffmpeg|-pass|2|-i|x", NULL},
	    {"tmux|new-session|-s|session|--session|train", NULL},
	    {"x|--keyboard|de|--sort-key=name|--keyword|a", NULL},
	    {"x|--password-file|/run/x|--token-path=/run/y", NULL},
	    {"x|--password-stdin|registry.io", NULL},
	    {"x|--password|--verbose", NULL},
	    {"x|--password=", NULL},
	    {"x|--use-auth|true|--auth=no", NULL},
	    {"x|--spin|9000|--opinion=good|--pinned=a", NULL},
	    {"x|--passengers=3000|--compass|north|--bypass=x", NULL},
	    {"docker|-v|secret:/run/secret|-v|/key:/key", NULL},
	    {"x|https://a.b:8080/c@d|http://a:80?x=@", NULL},
	    {"x|git@github.com:org/repo.git|user:name@host", NULL},
	    {"x|if token == y|a:=b", NULL},
	    {"x|the bearer|forbearer x", NULL},
	    {"x|--lr=1e-4|--seed=1234|--name=secretary.py", NULL},
	    {"x||y||", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *shown = covered(rows[i].args);

		if (strcmp(shown, rows[i].shown ? rows[i].shown : rows[i].args))
			fail_msg("%s: %s", rows[i].args, shown);
		free(shown);
	}
}

static char *covered_text(const char *text, size_t len)
{
	struct gk_buf out = {0};

	gk_buf_puts(&out, "");
	gk_secret_text(&out, text, len);
	return out.data;
}

/* A text ends at its length, whatever follows it. */
static void what_stands_behind_the_end_counts_for_nothing(void **state)
{
	static const char *const texts[] = {
	    "-----BEGIN PRIVATE KEY-----\nM\n-----END PRIVATE KEY----- b",
	    "a Bearer xyz b",
	    "a://u:p@h b://v:80/x@y",
	    "--password=\"a b\" 'key' : 'c' X-Api-Key: d ",
	    "a key = 123 token=12345.5 --pin==x",
	};
	static const char behind[] = "= :@-/a9.\"'\n";

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t len = 0; len <= strlen(texts[i]); len++) {
			char *right = covered_text(texts[i], len);

			for (size_t k = 0; k < sizeof behind; k++) {
				char text[100], *shown;

				memset(text, behind[k], sizeof text);
				memcpy(text, texts[i], len);
				shown = covered_text(text, len);
				assert_string_equal(shown, right);
				free(shown);
			}
			free(right);
		}
}

/* The words of a key's kind are within 80 bytes. */
static void a_private_key_is_one_by_its_head(void **state)
{
	(void)state;
	for (size_t at = 11; at < 90; at++) {
		char text[200] = "-----BEGIN ", *shown;

		memset(text + 11, 'x', at - 11);
		strcpy(text + at, "PRIVATE KEY-----\nM\n-----END x-----\n");
		shown = covered_text(text, strlen(text));
		assert_string_equal(shown, at < 80 ? X "\n" : text);
		free(shown);
	}
}

/*
 * Any bytes are accepted and none beyond the end is read; a long line does not
 * take minutes.
 */
static void anything_is_taken(void **state)
{
	static const char *const pieces[] = {
	    "=",           ":",           "://",     "@",  "key",
	    "-----BEGIN ", "PRIVATE KEY", "bearer ", "\"", "a",
	    " ",           "--token",     "\xff",    "?",  "&",
	    "\\",          "[",           "curl",    "'",  " -u"};
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct gk_buf text = {0}, out = {0};
		char *exact;

		gk_buf_puts(&text, "");
		for (int n = rand_r(&seed) % 12; n > 0; n--) {
			const char *piece =
			    pieces[(unsigned)rand_r(&seed) % COUNT(pieces)];

			gk_buf_add(&text, piece, strlen(piece));
			if (rand_r(&seed) % 4 == 0)
				gk_buf_putc(&text, '\0');
		}
		exact = malloc(text.len + !text.len);
		memcpy(exact, text.data, text.len);
		gk_secret_arguments(&out, exact, text.len);
		assert_false(out.failed);
		free(exact);
		gk_buf_free(&text);
		gk_buf_free(&out);
	}
}

/* Work grows linearly with the length, whatever the text. */
static void a_long_line_is_no_trap(void **state)
{
	static const struct {
		const char *first, *piece;
	} rows[] = {
	    {"", "x="},
	    {"", " = "},
	    {"", "a:"},
	    {"", "a://b:c"},
	    {"", "://"},
	    {"", "@"},
	    {"", "bearer "},
	    {"", "\" :"},
	    {"", "-----BEGIN "},
	    {"", "a."},
	    {"", "--"},
	    {"", " --key "},
	    {"", "\\\":"},
	    {"", "['key'] = "},
	    {"", "--key\\\""},
	    {"", " -u a:"},
	    {"x token=a", "\\"},
	    {"x token=a", "\""},
	    {"x token=a", "\"'"},
	    {"curl ", "-x\""},
	    {"curl ", " -u"},
	    {"\"key\":", "[\\"},
	    {"--token ", "\\\n"},
	    {"--key ", "-a"},
	    {"", "("},
	    {"curl ", "(-"},
	    {"", "\"key\":[]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct gk_buf text = {0}, out = {0};
		uint64_t began = gk_mono_ns();

		gk_buf_puts(&text, rows[i].first);
		while (text.len < 2 << 20)
			gk_buf_puts(&text, rows[i].piece);
		gk_secret_text(&out, text.data, text.len);
		/* Quadratic work would take hours. */
		assert_true(gk_mono_ns() - began < 60 * GK_NS_PER_S);
		gk_buf_free(&text);
		gk_buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(variables),
	    cmocka_unit_test(arguments),
	    cmocka_unit_test(what_stands_behind_the_end_counts_for_nothing),
	    cmocka_unit_test(a_private_key_is_one_by_its_head),
	    cmocka_unit_test(anything_is_taken),
	    cmocka_unit_test(a_long_line_is_no_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
