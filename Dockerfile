# One static program. PostgreSQL and Redis are services of their own: see
# compose.yaml.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /bongsu .

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /bongsu /bongsu
USER 65532:65532
ENV BONGSU_ADDR=0.0.0.0:8080
EXPOSE 8080
ENTRYPOINT ["/bongsu"]
CMD ["serve"]
