import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Java's own HTTP client as people use it: by default it asks for HTTP/2, on plain connections by an upgrade to h2c. Each
 * argument is NAME, METHOD, URL and at most one header, a TAB between them; a POST has the body {}. Prints a line each: the
 * name, the status, and the first characters of the body.
 */
class HttpAsker {
  public static void main(String[] requests) throws Exception {
    var context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new TrustsAll()}, null);
    var client = HttpClient.newBuilder().sslContext(context).connectTimeout(Duration.ofSeconds(60)).build();
    for (var request : requests) {
      var words = request.split("\t");
      var body = words[1].equals("POST") ? BodyPublishers.ofString("{}") : BodyPublishers.noBody();
      var asked = HttpRequest.newBuilder(URI.create(words[2])).method(words[1], body).timeout(Duration.ofSeconds(60));
      asked.header("Content-Type", "application/json");
      if (words.length > 4) asked.header(words[3], words[4]);
      var answer = client.send(asked.build(), BodyHandlers.ofString());
      var text = answer.body().replaceAll("\\s+", " ");
      System.out.println(words[0] + "\t" + answer.statusCode() + "\t" + text.substring(0, Math.min(60, text.length())));
    }
  }

  /** The certificate of a test, for whatever name. */
  static class TrustsAll extends X509ExtendedTrustManager {
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
